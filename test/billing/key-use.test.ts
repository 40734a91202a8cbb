// The last use of a key, and its requests of each day, are held in process memory and written for all keys in one statement, never during a
// request.
import { expect, it } from 'vitest'
import { createKeyUse } from '../../src/accounts/keys/key-use.ts'
import { newId } from '../../src/core/id.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

async function lastUsed(databaseUrl: string): Promise<Map<string, Date | null>> {
  const { rows } = await sql(databaseUrl).query<{ hash: string; at: Date | null }>(
    'select "userId" as hash, "lastUsedAt" as at from api_keys',
  )
  return new Map(rows.map(({ hash, at }) => [hash, at]))
}

/** The requests of each key that has some, in the order of the keys. */
async function requestsOf(databaseUrl: string): Promise<number[]> {
  const { rows } = await sql(databaseUrl).query<{ n: number }>(
    'select sum(requests)::int as n from api_key_days group by "keyId" order by "keyId"',
  )
  return rows.map(({ n }) => n)
}

/** One whose database is away at first. */
function unreliableUse(pool: ReturnType<typeof sql>) {
  const seen = { statements: 0, isAway: true, warnings: [] as unknown[] }
  const quickPool = {
    query: async (text: string, values: unknown[]) => {
      seen.statements++
      if (seen.isAway) throw new Error('away')
      return await pool.query(text, values)
    },
  }
  const log = { warn: (fields: unknown) => seen.warnings.push(fields) }
  return { seen, use: createKeyUse({ quickPool, log } as never) }
}

it('is shown within five seconds, only for the keys that were admitted', async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl })
  const [used, unused] = [await createAccount(databaseUrl), await createAccount(databaseUrl)]
  const begin = Date.now()
  for (let i = 0; i < 5; i++) expect((await api(gateway, used.apiKey).get('me')).status).toBe(200)
  expect((await api(gateway, unused.apiKey.replace(/.$/, 'x')).get('me')).status).toBe(401)
  // Requests do not write it: the first write comes within five seconds, or on shutdown.
  await until(async () => (await lastUsed(databaseUrl)).get(used.userId), { timeoutMs: 5_000 })
  expect((await api(gateway, unused.apiKey.replace(/.$/, 'x')).get('me')).status).toBe(401)
  await gateway.stop()
  const after = await lastUsed(databaseUrl)
  expect(after.get(used.userId)?.getTime()).toBeGreaterThanOrEqual(begin)
  expect(after.get(used.userId)?.getTime()).toBeLessThanOrEqual(Date.now())
  expect(after.get(unused.userId)).toBe(null)
})

it('never moves back, is written in one statement, and survives a database outage', async () => {
  const databaseUrl = await cloneDatabase()
  const accounts = await Promise.all(Array.from({ length: 3 }, () => createAccount(databaseUrl)))
  const pool = sql(databaseUrl)
  const { rows } = await pool.query<{ id: string; userId: string }>('select id, "userId" from api_keys order by id')
  const later = new Date(Date.now() + 3_600_000)
  await pool.query('update api_keys set "lastUsedAt" = $2 where id = $1', [rows[0]?.id, later])
  const { use, seen } = unreliableUse(pool)
  for (const { id } of [...rows, ...rows]) use.note(id, 1)
  use.note(newId(), 1)
  await use.flush()
  expect(seen).toMatchObject({ statements: 1, warnings: [{ keys: 4, err: 'away' }] })
  seen.isAway = false
  use.note(rows[0]?.id as string, 1)
  await use.flush()
  await use[Symbol.asyncDispose]()
  expect(seen.statements).toBe(2)
  const after = await lastUsed(databaseUrl)
  expect(accounts.map(({ userId }) => after.get(userId))).not.toContain(null)
  expect(after.get(rows[0]?.userId as string)).toEqual(later)
  expect(await requestsOf(databaseUrl)).toEqual([3, 2, 2])
})

it('takes requests back, before and after they were written, and never below zero', async () => {
  const databaseUrl = await cloneDatabase()
  await createAccount(databaseUrl)
  const { use, seen } = unreliableUse(sql(databaseUrl))
  seen.isAway = false
  const { rows } = await sql(databaseUrl).query<{ id: string }>('select id from api_keys')
  const id = rows[0]?.id as string
  async function written(...requests: number[]): Promise<number[]> {
    for (const n of requests) use.note(id, n)
    await use.flush()
    return await requestsOf(databaseUrl)
  }
  expect(await written(-1)).toEqual([])
  expect(await written(1, -1)).toEqual([])
  expect(await written(1, 2, -1)).toEqual([2])
  expect(await written(-1)).toEqual([1])
  expect(await written(-1, -1)).toEqual([0])
})
