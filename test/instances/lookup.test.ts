// Number lookups whose provider is slow, fails, cannot tell, or is asked twice for one number.

import { beforeAll, expect, it, vi } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { lookupNumbers } from '../../src/instances/lookup.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/providers.ts'
import { type Account, cloneDatabase, connectedInstance, createAccount, sql } from '../kit/kit.ts'
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
