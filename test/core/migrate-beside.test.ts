// Proves that migrations which wait for a long transaction, such as a backup, let the gateway of the version before go on meanwhile.
import type { PoolClient } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../src/core/database/migrate.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'

/** A database to which that migration is still to be applied; `undo` takes back what it did. */
async function databaseWithout(migration: string, undo: string): Promise<string> {
  const url = await cloneDatabase()
  await sql(url).query(`${undo}; delete from _prisma_migrations where migration_name = '${migration}'`)
  return url
}

async function connectionTo(url: string): Promise<PoolClient> {
  const client = await sql(url).connect()
  onTestFinished(() => client.release(true))
  return client
}

/** A transaction that has read the table and stays open, as that of `pg_dump` does. */
async function openReader(url: string, table: string): Promise<PoolClient> {
  const reader = await connectionTo(url)
  await reader.query('begin isolation level repeatable read')
  await reader.query(`select from ${table} limit 1`)
  return reader
}

/** Resolves when the migration waits for the reader. */
async function itWaits(url: string): Promise<void> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and application_name = 'gateway-migrate' and wait_event_type = 'Lock'`
  await until(async () => (await sql(url).query(waiting)).rows.length > 0, { everyMs: 5 })
}

it.each([
  {
    what: 'changes a table',
    migration: '0062_web_addresses',
    undo: 'alter table web_numbers drop column address',
    table: 'web_numbers',
    says: ['the migration 0062_web_addresses waits for a long transaction, such as a backup, that uses its tables'],
  },
  {
    what: 'creates an index again whose creation was interrupted',
    migration: '0051_failed_messages',
    undo: `update pg_index set indisvalid = false where indexrelid = 'messages_failed_idx'::regclass`,
    table: 'messages',
    says: [],
  },
])(
  'a migration that $what lets others use the table while a long transaction reads it',
  async ({ migration, undo, table, says }) => {
    const url = await databaseWithout(migration, undo)
    const reader = await openReader(url, table)
    const said: string[] = []
    const migrating = migrate(url, (message) => said.push(message))
    await itWaits(url)
    const other = await connectionTo(url)
    // As for statements of the gateway.
    await other.query(`set lock_timeout = '5s'`)
    for (let reads = 0; reads < 3; reads++) await other.query(`select from ${table} limit 1`)
    await reader.query('commit')
    expect(await migrating).toEqual([migration])
    expect(said).toEqual(says)
  },
)
