// Applies the pending migrations of the database.
import type { Sql } from './database.ts'
import { migrationList, migrationNames } from './prisma-files.ts'
import { filters, openEngine, type SchemaEngine } from './schema-engine.ts'
import { withPool } from './short-pool.ts'

/** Advisory lock; any number will do, as long as every process uses the same one. */
const lockKey = 4_617_230_001

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
      const { rows } = await lock.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [lockKey])
      if (!rows[0]?.mine) {
        onWait?.('another process applies migrations; waiting for it')
        await lock.query('select pg_advisory_lock($1)', [lockKey])
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
