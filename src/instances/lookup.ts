// Number lookups: checks which numbers are on the network of an instance.
import { z } from 'zod'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { idempotencyKey } from '../core/graph/input.ts'
import { writeInPieces } from '../core/idempotency/idempotency.ts'
import { phone } from '../core/phone.ts'
import { inTime } from '../core/time-limit.ts'
import { uuid } from '../core/validation.ts'
import type { Instance } from '../generated/prisma/client.ts'
import type { Provider } from '../providers/provider.ts'
import { providerOf } from '../providers/providers.ts'
import { findOwnInstance } from './service.ts'

/** Longest wait for the provider. */
const lookupTimeoutMs = 8_000

export const lookupFields = z.object({
  instanceId: uuid.describe('The instance to look the numbers up with; it must be connected.'),
  numbers: z.array(phone).min(1).max(100).describe('The numbers, E.164, 1 to 100.'),
  idempotencyKey,
})

export interface NumberLookup {
  phone: string
  /** Null if the provider cannot tell. */
  exists: boolean | null
  checkedAt: Date
}

/**
 * Returns one result for each number, in the order of the input; a number that occurs twice is looked up once.
 * @throws NOT_FOUND when the instance is not in the workspace; INVALID_STATE when the instance is not connected; PROVIDER_ERROR
 * when its provider is missing, fails or does not answer in time.
 */
export async function lookupNumbers(ctx: Context, input: z.output<typeof lookupFields>): Promise<NumberLookup[]> {
  const { app } = ctx
  const { instanceId: id, numbers } = input
  const distinct = [...new Set(numbers)]
  // `writeInPieces` keeps no transaction open during the call to the provider.
  return await writeInPieces(
    ctx,
    async () => {
      const instance = await findOwnInstance(ctx, id)
      if (instance.status !== 'connected')
        fail('INVALID_STATE', `The instance is ${instance.status}; connect it to look up numbers`)
      const provider = providerOf(app, instance.provider) ?? fail('PROVIDER_ERROR')
      const answers = await ask(ctx, provider, instance, distinct)
      const unanswered = distinct.filter((_, i) => answers[i] == null)
      const known = unanswered.length > 0 ? await app.hooks.knownNumbers(app, instance, unanswered) : new Map<string, boolean>()
      const checkedAt = new Date()
      const exists = new Map(distinct.map((number, i) => [number, answers[i] ?? known.get(number) ?? null]))
      return numbers.map((number) => ({ phone: number, exists: exists.get(number) ?? null, checkedAt }))
    },
    () => true,
  )
}

async function ask({ app }: Context, provider: Provider, instance: Instance, numbers: readonly string[]) {
  try {
    const lookup = provider.lookup(instance, numbers)
    return await inTime(lookupTimeoutMs, lookup, () => new Error('the provider took too long'))
  } catch (error) {
    app.log.warn({ instanceId: instance.id, err: (error as Error).message }, 'a number lookup failed')
    return fail('PROVIDER_ERROR')
  }
}
