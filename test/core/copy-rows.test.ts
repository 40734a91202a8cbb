// Proves that copied rows do not pile up in memory, and that a copy ends when either side fails.
import { expect, it } from 'vitest'
import { Client } from '../../src/core/database/client.ts'
import { copyRows } from '../../src/core/database/copy-rows.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { emptyDatabase } from '../kit/old-database.ts'
import { until } from '../kit/until.ts'

const url = await emptyDatabase()
const pool = sql(url)
await pool.query('create table copied (n int check (n <> 500), text text)')

async function connect(name: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: name })
  client.on('error', () => {})
  await client.connect()
  atEnd('test', () => client.end().catch(() => {}))
  return client
}

const rows = (value: string) => `copy (select ${value}, repeat('x', 1000) from generate_series(501, 50500) n) to stdout`
const into = 'copy copied from stdin'

it('stops reading while the target takes nothing', async () => {
  const [source, target, other] = await Promise.all([connect('copy-source'), connect('copy-target'), pool.connect()])
  // The target waits at its first row.
  await other.query(`create function wait() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock(1); return new; end'`)
  await other.query('create trigger waits before insert on copied for each row execute function wait()')
  await other.query('select pg_advisory_lock(1)')
  const copying = copyRows({ client: source, text: rows('n') }, { client: target, text: into }, () => {})
  await until(async () => {
    const { rows } = await pool.query(`select wait_event from pg_stat_activity where application_name = 'copy-source'`)
    return rows[0]?.wait_event === 'ClientWrite'
  })
  await other.query('select pg_advisory_unlock(1)')
  other.release()
  expect(await copying).toBe(50_000)
  expect((await pool.query('select sum(n)::int as sum from copied')).rows).toEqual([{ sum: (50_000 * (501 + 50_500)) / 2 }])
})

it.each([
  ['the source', 'n / (n - 20000)', 'division by zero'],
  ['the target', 'case n when 40000 then 500 else n end', 'violates check constraint'],
])('ends with the error of %s', async (_, value, message) => {
  const [source, target] = await Promise.all([connect('copy-source'), connect('copy-target')])
  await expect(copyRows({ client: source, text: rows(value) }, { client: target, text: into }, () => {})).rejects.toThrow(message)
})
