// Proves that migrations are applied on a server that others have set up.
import { expect, inject, it, onTestFinished } from 'vitest'
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

it('migrations may take longer than the server lets statements, transactions and waits take', async () => {
  const url = await cloneDatabase()
  const database = new URL(url).pathname.slice(1)
  for (const limit of ['statement_timeout', 'transaction_timeout', 'lock_timeout'])
    await sql(url).query(`alter database ${database} set ${limit} = '1s'`)
  await sql(url).query(
    `drop index messages_failed_idx; delete from _prisma_migrations where migration_name like '%failed_messages'`,
  )
  const holder = await sql(url).connect()
  onTestFinished(() => holder.release(true))
  await holder.query('set transaction_timeout = 0')
  await holder.query('begin')
  await holder.query('update messages set "updatedAt" = now()')
  const migrating = migrate(url)
  let ended = false
  void migrating
    .catch(() => {})
    .finally(() => {
      ended = true
    })
  const waiting = `select from pg_locks join pg_stat_activity using (pid) where datname = '${database}'
    and locktype = 'virtualxid' and not granted and clock_timestamp() - waitstart > '1100 ms'`
  await until(async () => ended || (await sql(inject('serverUrl')).query(waiting)).rows.length > 0)
  await holder.query('commit')
  expect(await migrating).toEqual(['0051_failed_messages'])
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
