// Statements mean the same whatever the server, the database or the role have set, in the address of the database too.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { openDatabase, withConnection } from '../../src/core/database/database.ts'
import { connectTo } from '../../src/core/database/dedicated.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { adviseOnSettings, limitingStatement } from '../../src/core/database/pooler.ts'
import { withPool } from '../../src/core/database/short-pool.ts'
import { insertKeys } from '../../src/core/idempotency/keys.sql.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { emptyDatabase } from '../kit/old-database.ts'

/** Changes settings of later sessions of that database, and returns its URL, with that query. */
async function withSettings(url: string, settings: Record<string, string>, search = ''): Promise<string> {
  const address = Object.assign(new URL(url), { search })
  const name = address.pathname.slice(1)
  const statements = Object.entries(settings).map(([setting, value]) => `alter database ${name} set ${setting} = '${value}'`)
  await sql(url).query(statements.join('; '))
  return address.href
}

it.each([
  ['that the database has set', ''],
  ['of its address', `?options=${encodeURIComponent('-c search_path=other')}`],
])('Prisma and SQL find the same tables with a search path %s', async (_, search) => {
  const empty = await emptyDatabase()
  await sql(empty).query('create schema other')
  const url = await withSettings(empty, search ? {} : { search_path: 'other' }, search)
  await migrate(url)
  await using database = openDatabase(url, () => {}, { max: 1 })
  const id = randomUUID()
  await database.db.mail.create({ data: { id, content: Buffer.from('mail') } })
  expect((await database.pool.query('select id from mails')).rows).toEqual([{ id }])
})

it('every kind of session waits for concurrent changes, and reads backslashes and nulls as the standard does', async () => {
  const settings = { default_transaction_isolation: 'serializable', standard_conforming_strings: 'off', array_nulls: 'off' }
  const url = await withSettings(await cloneDatabase(), settings)
  const ask = `select current_setting('transaction_isolation') as isolation, '\\d' as text, '{NULL}'::text[] as nulls`
  const expected = [{ isolation: 'read committed', text: '\\d', nulls: [null] }]
  await using database = openDatabase(url, () => {}, { max: 1 })
  expect((await database.pool.query(ask)).rows).toEqual(expected)
  expect((await database.quickPool.query(ask)).rows).toEqual(expected)
  await using session = await connectTo(url, 'test', 5_000)
  expect((await session.client.query(ask)).rows).toEqual(expected)
  expect((await withPool(url, { max: 1 }, (pool) => pool.query(ask))).rows).toEqual(expected)
})

it('the advice for a pooler restores what its sessions have changed, and only that', async () => {
  const limits = { statement_timeout: '10s', lock_timeout: '5s', idle_in_transaction_session_timeout: '5s' }
  const url = await withSettings(await cloneDatabase(), limits)
  expect(await adviseOnSettings(url)).toBeUndefined()

  await withSettings(url, { search_path: 'other', default_transaction_isolation: 'repeatable read' })
  const restored = 'set search_path = public; set session characteristics as transaction isolation level read committed'
  expect(await adviseOnSettings(url)).toBe(
    'connections through DATABASE_URL have no suitable default_transaction_isolation, search_path; with PgBouncer, ' +
      `add connect_query='${limitingStatement}; ${restored}' to the line of the database`,
  )
})

it('a transaction through a pooler that has waited briefly for an Idempotency-Key waits for other locks as long as before', async () => {
  const url = await cloneDatabase()
  await using database = openDatabase(url, () => {}, { directUrl: url, max: 1 })
  const { rows } = await withConnection(database.pool, async (session) => {
    await session.query(limitingStatement)
    await session.query('begin')
    await insertKeys(session, [], 100)
    return await session.query('show lock_timeout')
  })
  expect(rows).toEqual([{ lock_timeout: '5s' }])
})
