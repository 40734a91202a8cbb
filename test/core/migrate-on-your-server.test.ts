// Proves that migrations are applied on a server that others have set up.
import { expect, it } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { emptyDatabase } from '../kit/old-database.ts'
import { until } from '../kit/until.ts'

it('migrations find the extension for searches in any schema, and create no other object there', async () => {
  const url = await emptyDatabase()
  await sql(url).query('create schema "All extensions"; create extension pg_trgm schema "All extensions"')
  await migrate(url)
  const { rows } = await sql(url).query(
    `select relnamespace::regnamespace::text as schema from pg_class where relname in ('contacts', 'contacts_searchText_idx')`,
  )
  expect(rows).toEqual([{ schema: 'public' }, { schema: 'public' }])
})

it('migrations may take longer than the server lets a statement take', async () => {
  const url = await emptyDatabase()
  const limit = `alter database ${new URL(url).pathname.slice(1)} set statement_timeout = '1s'`
  await sql(url).query(`${limit}; create table _prisma_migrations (id text, checksum text, finished_at timestamptz,
    migration_name text, rolled_back_at timestamptz, applied_steps_count integer)`)
  const holder = await sql(url).connect()
  await holder.query('set statement_timeout = 0; begin; lock table _prisma_migrations in share mode')
  const migrating = migrate(url)
  let ended = false
  void migrating
    .catch(() => {})
    .finally(() => {
      ended = true
    })
  const waiting = `select from pg_locks where relation = '_prisma_migrations'::regclass and clock_timestamp() - waitstart > '1100 ms'`
  await until(async () => ended || (await holder.query(waiting)).rows.length > 0)
  await holder.query('commit')
  holder.release(true)
  expect(await migrating).not.toEqual([])
})

it.each([
  ['empty', emptyDatabase],
  ['migrated', cloneDatabase],
])('a start refuses an %s database that it cannot write to, and says why', async (_, create) => {
  const url = await create()
  await sql(url).query(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
  await expect(migrate(url)).rejects.toThrow(
    'The database of DATABASE_URL cannot be used: its sessions are read-only; connect to the primary server, and set default_transaction_read_only to off',
  )
})
