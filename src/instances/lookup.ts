// Number look-ups: whether numbers are on the network of an instance, as its provider tells.
import { z } from 'zod'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { idempotencyKey } from '../core/graph/input.ts'
import { writeInPieces } from '../core/idempotency/idempotency.ts'
import { phone } from '../core/phone.ts'
import { inTime } from '../core/time-limit.ts'
import { uuid } from '../core/validation.ts'
import type { Instance } from '../generated/prisma/client.ts'
import { type Provider, providerOf } from '../providers/provider.ts'

/** Longest wait for the provider; a request ends after 10 s. */
const lookupTimeoutMs = 8_000

export const lookupFields = z.object({
  instanceId: uuid.describe('The instance whose network is asked; it must be connected.'),
  numbers: z.array(phone).min(1).max(100).describe('The numbers, E.164, 1 to 100.'),
  idempotencyKey,
})

export interface NumberLookup {
  phone: string
  /** Null where the provider cannot tell. */
  exists: boolean | null
  checkedAt: Date
}

/**
 * One answer for each number, in the order in which they were asked for; a number that stands twice is asked for once.
 * @throws NOT_FOUND, INVALID_STATE where the instance is not connected, PROVIDER_ERROR where its provider does not answer.
 */
export async function lookupNumbers(ctx: Context, input: z.output<typeof lookupFields>): Promise<NumberLookup[]> {
  const { app, principal } = ctx
  const { instanceId: id, numbers } = input
  const distinct = [...new Set(numbers)]
  // Nothing is held open while the provider is asked.
  const isFinal = () => true
  return await writeInPieces(
    ctx,
    async () => {
      const where = { id, workspaceId: principal.workspaceId, deletedAt: null }
      const instance = (await app.db.instance.findFirst({ where })) ?? fail('NOT_FOUND', 'Instance not found')
      if (instance.status !== 'connected')
        fail('INVALID_STATE', `The instance is ${instance.status}; connect it to look numbers up`)
      const provider = providerOf(app, instance.provider) ?? fail('PROVIDER_ERROR')
      const answers = await ask(ctx, provider, instance, distinct)
      const checkedAt = new Date()
      const exists = new Map(distinct.map((number, i) => [number, answers[i] ?? null]))
      return numbers.map((number) => ({ phone: number, exists: exists.get(number) ?? null, checkedAt }))
    },
    isFinal,
  )
}

async function ask({ app }: Context, provider: Provider, instance: Instance, numbers: readonly string[]) {
  const settings = instance.settings as Record<string, unknown>
  try {
    const asked = provider.lookup({ ...instance, settings }, numbers)
    return await inTime(lookupTimeoutMs, asked, () => new Error('the provider took too long'))
  } catch (error) {
    app.log.warn({ instanceId: instance.id, err: (error as Error).message }, 'a number look-up broke off')
    return fail('PROVIDER_ERROR')
  }
}
