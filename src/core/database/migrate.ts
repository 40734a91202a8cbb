// Applies the pending migrations of the database.
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from './database.ts'
import { migrationList, migrationNames } from './prisma-files.ts'
import { filters, openEngine, type SchemaEngine } from './schema-engine.ts'
import { withPool } from './short-pool.ts'

/** Advisory lock; any number will do, as long as every process uses the same one. */
const lockKey = 4_617_230_001
/** How often a process asks for the lock while another one has it. */
const retryMs = 200

/** Names of the migrations that are not applied to this database, oldest first. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const all = await migrationNames()
  const table = await sql.query<{ known: boolean }>(`select to_regclass('_prisma_migrations') is not null as known`)
  if (!table.rows[0]?.known) return all
  const { rows } = await sql.query<{ name: string }>(
    `select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null`,
  )
  const applied = new Set(rows.map((row) => row.name))
  return all.filter((name) => !applied.has(name))
}

export interface NamedMigration {
  name: string
  applied: boolean
}

/** The migrations of this version, oldest first. */
export async function migrationsOf(sql: Sql): Promise<NamedMigration[]> {
  const pending = new Set(await pendingMigrations(sql))
  return (await migrationNames()).map((name) => ({ name, applied: !pending.has(name) }))
}

/**
 * Applies pending migrations, one process at a time, and returns their names. Calls `onWait` before it waits for another process
 * that applies them.
 * The engine is loaded only if something is pending.
 */
export async function migrate(databaseUrl: string, onWait?: (message: string) => void): Promise<string[]> {
  return await withPool(databaseUrl, { max: 3, application_name: 'gateway-migrate' }, async (pool) => {
    if ((await pendingMigrations(pool)).length === 0) return []
    const lock = await pool.connect()
    try {
      if (!(await tryLock(lock))) {
        onWait?.('another process applies migrations; waiting for it')
        // Asks again and again. A statement that waited would hold a snapshot, for which CREATE INDEX CONCURRENTLY would wait in turn.
        while (!(await tryLock(lock))) await pause(retryMs)
      }
      const pending = await pendingMigrations(lock)
      if (pending.length === 0) return []
      using engine = await openEngine(pool)
      await forgetInterrupted(lock, engine)
      const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList: await migrationList(), filters })
      return appliedMigrationNames
    } finally {
      // Closing the connection releases the advisory lock.
      lock.release(true)
    }
  })
}

async function tryLock(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lockKey])
  return rows[0]?.mine ?? false
}

/**
 * Marks interrupted migrations as rolled back. A process that died in between leaves a row without an end; its script ran in one
 * transaction, so nothing of it remains.
 */
async function forgetInterrupted(sql: Sql, engine: SchemaEngine): Promise<void> {
  const { rows: tables } = await sql.query(`select to_regclass('_prisma_migrations') as name`)
  if (!tables[0]?.name) return
  const { rows } = await sql.query<{ name: string }>(
    `select distinct migration_name as name from _prisma_migrations where finished_at is null and rolled_back_at is null`,
  )
  for (const { name } of rows) await engine.markMigrationRolledBack({ migrationName: name })
}
