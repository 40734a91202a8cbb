// Number lookups whose provider is slow, fails, cannot tell, or is asked twice for one number.
import { beforeAll, expect, it, vi } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { lookupNumbers } from '../../src/instances/lookup.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/providers.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { contextFor, openApp } from '../messages/rig.ts'

let databaseUrl: string
let account: Account
let app: App
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  instanceId = (await connectedInstance(databaseUrl, account)).id
  app = await openApp(databaseUrl)
})

const numbers = ['+4915112345678', '+4915112345679']

/** Looks numbers up through a provider with this `lookup`. */
async function lookUp(lookup: Provider['lookup'], asked = numbers) {
  const sandbox = providers(app).get('sandbox') as Provider
  const own = { ...app }
  providers.replace(own, new Map([['sandbox', { ...sandbox, lookup }]]))
  return await lookupNumbers(contextFor(own, account), { instanceId, numbers: asked })
}

it('asks the provider once for each number, and answers every position', async () => {
  const lookup = vi.fn(async (_: unknown, list: readonly string[]) => list.map((number) => number.endsWith('8')))
  const answers = await lookUp(lookup, [...numbers, ...numbers])
  expect(lookup).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: instanceId, settings: {} }), numbers)
  expect(answers.map(({ phone, exists }) => [phone, exists])).toEqual(
    [...numbers, ...numbers].map((number) => [number, number.endsWith('8')]),
  )
})

it('returns null when the provider cannot tell or leaves a number out', async () => {
  expect((await lookUp(async () => [null, null])).map(({ exists }) => exists)).toEqual([null, null])
  expect((await lookUp(async () => [true])).map(({ exists }) => exists)).toEqual([true, null])
})

it('knows from the messages of this instance what the provider cannot tell', async () => {
  const [delivered, wrote, missed, back, gone, queued, elsewhere] = Array.from({ length: 7 }, (_, i) => `+39333123000${i}`)
  const other = (await connectedInstance(databaseUrl, account)).id
  const insert = (peer: string, fields: Record<string, unknown>, instance = instanceId) => {
    const row = { direction: 'outbound', status: 'sent', error: null, deliveredAt: null, failedAt: null, createdAt: 3, ...fields }
    return sql(databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, direction, status, error, "deliveredAt", "failedAt", "createdAt")
       values (gen_random_uuid(), $1, $2, $3, 'text', $4, $4, 'x', '{}', $5, $6, $7, now() - make_interval(hours => $8), now() - make_interval(hours => $9), now() - make_interval(hours => $10))`,
      [
        account.workspaceId,
        account.userId,
        instance,
        peer,
        row.direction,
        row.status,
        row.error,
        row.deliveredAt,
        row.failedAt,
        row.createdAt,
      ],
    )
  }
  const missing = (failedAt: number) => ({ status: 'failed', error: 'RECIPIENT_NOT_FOUND', failedAt })
  await insert(delivered as string, { status: 'delivered', deliveredAt: 2 })
  await insert(wrote as string, { direction: 'inbound', status: 'received' })
  await insert(missed as string, missing(2))
  await insert(back as string, missing(2))
  await insert(back as string, { status: 'delivered', deliveredAt: 1 })
  await insert(gone as string, { status: 'delivered', deliveredAt: 2 })
  await insert(gone as string, missing(1))
  await insert(queued as string, { status: 'failed', error: 'EXPIRED', failedAt: 1 })
  await insert(elsewhere as string, { status: 'delivered', deliveredAt: 2 }, other)
  const asked = [delivered, wrote, missed, back, gone, queued, elsewhere] as string[]
  const answers = await lookUp(async (_, list) => list.map(() => null), asked)
  expect(answers.map(({ exists }) => exists)).toEqual([true, true, false, true, false, null, null])
  expect((await lookUp(async () => [false], [delivered as string]))[0]?.exists).toBe(false)
})

it('reports a provider failure without the message of the provider', async () => {
  const broken = lookUp(async () => {
    throw new Error('secret 42')
  })
  await expect(broken).rejects.toMatchObject({
    message: 'The provider refused the request',
    extensions: { code: 'PROVIDER_ERROR' },
  })
})

it('waits 8 s for a silent provider without holding a database connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const asked = Promise.withResolvers<void>()
    const slow = lookUp(() => {
      asked.resolve()
      return new Promise(() => {})
    })
    slow.catch(() => {})
    await asked.promise
    expect(app.pool.idleCount).toBe(app.pool.totalCount)
    await vi.advanceTimersByTimeAsync(7_900)
    expect(await Promise.race([slow, 'still waiting'])).toBe('still waiting')
    await vi.advanceTimersByTimeAsync(200)
    await expect(slow).rejects.toMatchObject({ extensions: { code: 'PROVIDER_ERROR' } })
  } finally {
    vi.useRealTimers()
  }
})

it('leaves no transaction open in the database', async () => {
  const { rows } = await sql(databaseUrl).query(
    `select state from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
  )
  expect(rows).toEqual([])
})
