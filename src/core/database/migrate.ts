// Applies the pending migrations of the database.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from './database.ts'
import { migrationNames, migrationScript } from './prisma-files.ts'
import { readServer } from './server.sql.ts'
import { withPool } from './short-pool.ts'

/** Advisory lock; any number will do, as long as every process uses the same one. */
const lockKey = 4_617_230_001
/** How often a process asks for the lock while another one has it. */
const retryMs = 200

/** Names of the migrations that are not applied to this database, oldest first. */
export async function pendingMigrations(sql: Sql): Promise<string[]> {
  const all = await migrationNames()
  const list = await sql.query<{ known: boolean }>(`select to_regclass('_prisma_migrations') is not null as known`)
  if (!list.rows[0]?.known) return all
  const { rows } = await sql.query<{ name: string }>(
    `select migration_name as name from _prisma_migrations where finished_at is not null and rolled_back_at is null`,
  )
  const applied = new Set(rows.map((row) => row.name))
  return all.filter((name) => !applied.has(name))
}

/** Names of the migrations that a newer version has applied to this database. */
export async function newerMigrations(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    'select migration_name as name from _prisma_migrations where migration_name <> all($1) order by migration_name',
    [await migrationNames()],
  )
  return rows.map(({ name }) => name)
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
 * that applies them. @throws Error when the server is too old, the encoding is not UTF8 or sessions are read-only; nothing is changed then.
 */
export async function migrate(databaseUrl: string, onWait?: (message: string) => void): Promise<string[]> {
  return await withPool(databaseUrl, { max: 3, application_name: 'gateway-migrate' }, async (pool) => {
    const { fault } = await readServer(pool)
    if (fault) throw new Error(`The database of DATABASE_URL cannot be used: ${fault}`)
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
      // A limit of the role is made for statements of requests. An index of a large table takes longer, and would never be created.
      await lock.query('set statement_timeout = 0')
      await lock.query(withTrigrams)
      await lock.query(table)
      for (const name of pending) await apply(lock, name)
      return pending
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

/** Finds the operators of pg_trgm in whichever schema the owner of the server has installed it. */
const withTrigrams = `select set_config('search_path', 'public, ' || quote_ident(nspname), false)
  from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm'`

/** The list of applied migrations, as Prisma's own tools write it. */
const table = `create table if not exists _prisma_migrations (
  id varchar(36) primary key, checksum varchar(64) not null, finished_at timestamptz, migration_name varchar(255) not null, logs text,
  rolled_back_at timestamptz, started_at timestamptz not null default now(), applied_steps_count integer not null default 0
)`

/**
 * Runs a script and records it, in one transaction, so that a process that dies leaves all of it or nothing. Prisma's engine runs each
 * statement by itself: one that died left a database in which the script could neither go on nor start again. A script that creates or drops an
 * index CONCURRENTLY consists of that statement, which cannot be in a transaction and can be repeated.
 */
async function apply(sql: Sql, name: string): Promise<void> {
  const script = await migrationScript(name)
  const checksum = createHash('sha256').update(script).digest('hex')
  const record = `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
    values ('${randomUUID()}', '${checksum}', clock_timestamp(), '${name}', 1)`
  try {
    if (script.includes('CONCURRENTLY')) {
      await dropUnfinishedIndexes(sql)
      await sql.query(script)
      await sql.query(record)
    } else await sql.query(`${script};\n${record}`)
  } catch (error) {
    throw new Error(`The migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

/** Drops indexes whose creation was interrupted: IF NOT EXISTS would take them for done. */
async function dropUnfinishedIndexes(sql: Sql): Promise<void> {
  const { rows } = await sql.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index join pg_class on oid = indexrelid
     where not indisvalid and relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of rows) await sql.query(`drop index ${name}`)
}
