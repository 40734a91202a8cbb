// The plans of statements that are prepared while a table is empty, and kept while it grows.
import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { openDatabase, type Sql } from '../../src/core/database/database.ts'
import { readUnanalyzed } from '../../src/core/database/statistics.sql.ts'
import { startAnalyzing } from '../../src/core/database/statistics.ts'
import { newId } from '../../src/core/id.ts'
import { lockOpen } from '../../src/messages/dispatch/claim.sql.ts'
import { sendMessages } from '../../src/messages/service.ts'
import { addSteps, takeDueReports } from '../../src/providers/sandbox/sandbox.sql.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'

it('an update by ids finds its rows by the primary key', async () => {
  await using database = openDatabase(await cloneDatabase(), () => {}, { max: 1 })
  const update = `update messages m set "updatedAt" = now() from unnest($1::uuid[]) as c(id) where m.id = c.id`
  const plan = await planOf(database.pool, (tx) => tx.query({ text: update }))
  expect(plan).toContain('messages_pkey')
  expect(plan).not.toContain('Seq Scan')
})

it('a claim does not read all messages of an instance, once the table has grown from nothing', async () => {
  const { app, ctx, instanceId } = await openWorkspace(await cloneDatabase())
  const texts = Array.from({ length: 200 }, (_, n) => ({ instanceId, to: `+39333123${1_000 + n}`, type: 'text', text: 'hello' }))
  for (let bulk = 0; bulk < 3; bulk++) await sendMessages(ctx, texts)
  // Idle sessions report their inserts after 10 s; busy ones after 1 s.
  await Promise.all(Array.from({ length: 10 }, () => app.pool.query('select pg_stat_force_next_flush()')))
  const analyzed = `select from pg_stat_user_tables where relname = 'messages' and last_analyze is not null`
  await using _ = startAnalyzing(app)
  await until(async () => (await app.pool.query(analyzed)).rowCount === 1)
  const plan = await planOf(app.pool, (tx) => lockOpen(tx, []))
  expect(plan).toMatch(/Index (Only )?Scan using messages_open_idx on messages e/)
})

it('a table is analyzed again when its rows have doubled', async () => {
  await using database = openDatabase(await cloneDatabase(), () => {}, { max: 1 })
  const { pool } = database
  const add = async (n: number) => {
    await pool.query(
      `insert into email_counts (digest, at) select gen_random_uuid()::text::bytea, '{}' from generate_series(1, $1::int)`,
      [n],
    )
    await pool.query('select pg_stat_force_next_flush()')
  }
  await pool.query('alter table email_counts set (autovacuum_enabled = off)')
  const found = async () => (await readUnanalyzed(pool, 500)).filter((statement) => statement.includes('email_counts'))
  await add(600)
  const [statement = ''] = await found()
  await pool.query(statement)
  await add(500)
  expect(await found()).toEqual([])
  await add(200)
  expect(await found()).toEqual([statement])
})

it('a table that is locked, as VACUUM and CREATE INDEX do, keeps no other from being analyzed', async () => {
  const databaseUrl = await cloneDatabase()
  await using database = openDatabase(databaseUrl, () => {}, { max: 1 })
  const { pool } = database
  for (let n = 1; n <= 5; n++) {
    await pool.query(`create table numbers_${n} (n int) with (autovacuum_enabled = off)`)
    await pool.query(`insert into numbers_${n} select generate_series(1, 600)`)
  }
  await pool.query('select pg_stat_force_next_flush()')
  const holder = await sql(databaseUrl).connect()
  onTestFinished(() => holder.release(true))
  await holder.query('begin; lock table numbers_3 in share update exclusive mode')
  await using _ = startAnalyzing({ pool, log: { debug() {} } as unknown as App['log'] })
  const analyzed = `select from pg_stat_user_tables where relname like 'numbers%' and last_analyze is not null`
  await until(async () => (await pool.query(analyzed)).rowCount === 4)
})

it('the due steps of the sandbox network are not compared with all others, although its table is empty most of the time', async () => {
  await using database = openDatabase(await cloneDatabase(), () => {}, { max: 1 })
  const step = { instanceId: newId(), kind: 'answer' as const, messageId: 'gone', after: 0 }
  await addSteps(database.pool, [step], 1)
  await database.pool.query('analyze sandbox_steps, sandbox_messages')
  const plan = await planOf(database.pool, (tx) => takeDueReports(tx, '-infinity', 1_000))
  expect(plan).toContain('Index Cond: (id = ANY (')
  expect(plan).toContain('Index Cond: (reference = ')
  expect(plan).not.toContain('Join Filter')
})

/** The plan of the one statement that `run` runs, without its values. */
async function planOf(pool: pg.Pool, run: (tx: Sql) => Promise<unknown>): Promise<string> {
  let text = ''
  const seeing = async (query: pg.QueryConfig) => {
    text = query.text
    return { rows: [] }
  }
  await run({ query: seeing } as unknown as Sql)
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${text}`)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
