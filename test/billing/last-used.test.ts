// The last use of a key is held in process memory and written for all keys in one statement, never during a request.
import { expect, it } from 'vitest'
import { createKeyUse } from '../../src/accounts/keys/last-used.ts'
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
  let statements = 0
  let isAway = true
  const quickPool = {
    query: async (text: string, values: unknown[]) => {
      statements++
      if (isAway) throw new Error('away')
      return await pool.query(text, values)
    },
  }
  const outcome: unknown[] = []
  const log = { warn: (fields: unknown) => outcome.push(fields) }
  const use = createKeyUse({ quickPool, log } as never)
  for (const { id } of [...rows, ...rows]) use.note(id)
  use.note(newId())
  await use.flush()
  expect([statements, outcome]).toEqual([1, [{ keys: 4, err: 'away' }]])
  isAway = false
  await use.flush()
  await use[Symbol.asyncDispose]()
  expect(statements).toBe(2)
  const after = await lastUsed(databaseUrl)
  expect(accounts.map(({ userId }) => after.get(userId))).not.toContain(null)
  expect(after.get(rows[0]?.userId as string)).toEqual(later)
})
