// A process that is killed while it migrates leaves a database that the next one migrates to the end.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { migrationNames } from '../../src/core/database/prisma-files.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { environment, node, root, secretKey } from '../kit/environment.ts'
import { emptyDatabase } from '../kit/old-database.ts'
import { until } from '../kit/until.ts'

async function tables(url: string): Promise<string[]> {
  const { rows } = await sql(url).query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'i', 'I') order by 1`,
  )
  return rows.map(({ name }) => name)
}

describe('kill -9 while migrations run', () => {
  // The first migration creates the first 21 tables, and the last ones about 50.
  it.each([1, 22, 40])('after table %d was created', async (most) => {
    const url = await emptyDatabase()
    const env = { ...environment, DATABASE_URL: url, SECRET_KEY: secretKey }
    const child = spawn(node, ['src/cli/main.ts', 'migrate'], { cwd: root, env, stdio: 'ignore' })
    await until(
      async () => {
        const { rows } = await sql(url).query<{ n: number }>(
          `select count(*)::int as n from pg_tables where schemaname = 'public'`,
        )
        return (rows[0]?.n ?? 0) >= most
      },
      { everyMs: 1 },
    )
    child.kill('SIGKILL')
    await once(child, 'exit')
    await migrate(url)
    const { rows } = await sql(url).query(
      'select migration_name as name from _prisma_migrations where finished_at is not null order by 1',
    )
    expect(rows.map(({ name }) => name)).toEqual(await migrationNames())
    expect(await tables(url)).toEqual(await tables(await cloneDatabase()))
  })
})

it('builds an index again whose creation was interrupted', async () => {
  const url = await cloneDatabase()
  const name = '"messages_failed_idx"'
  await sql(url).query(`update pg_index set indisvalid = false where indexrelid = '${name}'::regclass`)
  await sql(url).query(`delete from _prisma_migrations where migration_name like '%failed_messages'`)
  expect(await migrate(url)).toEqual(['0051_failed_messages'])
  const { rows } = await sql(url).query(`select indisvalid as valid from pg_index where indexrelid = '${name}'::regclass`)
  expect(rows).toEqual([{ valid: true }])
})

it('names the migration that failed', async () => {
  const url = await cloneDatabase()
  await sql(url).query(`delete from _prisma_migrations where migration_name like '0002%'`)
  await expect(migrate(url)).rejects.toThrow('The migration 0002_by_hand failed: duplicate key value')
})
