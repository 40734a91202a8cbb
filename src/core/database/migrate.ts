// Applies the pending migrations of the database.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseError } from 'pg'
import type { Sql } from './database.ts'
import { migrationNames, migrationScript } from './prisma-files.ts'
import { readServer } from './server.sql.ts'
import { withPool } from './short-pool.ts'

/** Advisory lock; any number will do, as long as every process uses the same one. */
const lockKey = 4_617_230_001
/** How often a process asks for the lock while another one has it. */
const retryMs = 200
/**
 * How long a migration waits for the lock of a table at a time. Statements of other processes wait behind it, and the gateway of the version
 * before goes on meanwhile. Less than the time after which PostgreSQL looks for deadlocks.
 */
const lockMs = 500
/** SQLSTATE of a wait for a lock that took longer than it may. */
const lockNotAvailable = '55P03'

/** Names of the migrations that are not applied to this database, oldest first. */
export async function pendingMigrations(sql: Sql): Promise<readonly string[]> {
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

type OnWait = (message: string) => void

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
 * that applies them, or for a long transaction. @throws Error when the server is too old, the encoding is not UTF8 or sessions are read-only;
 * nothing is changed then.
 */
export async function migrate(databaseUrl: string, onWait?: OnWait): Promise<readonly string[]> {
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
      await lock.query(withoutLimits)
      await lock.query(withTrigrams)
      await lock.query(table)
      for (const name of pending) await apply(lock, name, onWait)
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

/**
 * A limit of the role is made for statements of requests. An index of a large table takes longer, and would never be created: it also waits
 * for the transactions that began before. PostgreSQL up to 16 has no limit of transactions.
 */
const withoutLimits = `select set_config(name, '0', false) from pg_settings
  where name in ('statement_timeout', 'transaction_timeout', 'lock_timeout')`

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
async function apply(sql: Sql, name: string, onWait: OnWait | undefined): Promise<void> {
  const script = await migrationScript(name)
  const checksum = createHash('sha256').update(script).digest('hex')
  const record = `insert into _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count)
    values ('${randomUUID()}', '${checksum}', clock_timestamp(), '${name}', 1)`
  try {
    if (script.includes('CONCURRENTLY')) {
      await dropUnfinishedIndexes(sql)
      await sql.query(script)
      await sql.query(record)
    } else await runWhenFree(sql, `set local lock_timeout = ${lockMs};\n${script};\n${record}`, () => onWait?.(waitsFor(name)))
  } catch (error) {
    throw new Error(`The migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

function waitsFor(name: string): string {
  return `the migration ${name} waits for a long transaction, such as a backup, that uses its tables`
}

/** Runs the script again and again while others keep the locks that it needs. Calls `onWait` once. */
async function runWhenFree(sql: Sql, script: string, onWait: () => void): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await sql.query(script)
      return
    } catch (error) {
      if ((error as DatabaseError).code !== lockNotAvailable) throw error
      if (tries === 1) onWait()
      await pause(retryMs)
    }
  }
}

/**
 * Drops indexes whose creation was interrupted: IF NOT EXISTS would take them for done. CONCURRENTLY, so that others can use the table while
 * this waits for their transactions.
 */
async function dropUnfinishedIndexes(sql: Sql): Promise<void> {
  const { rows } = await sql.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index join pg_class on oid = indexrelid
     where not indisvalid and relkind = 'i' and relnamespace = 'public'::regnamespace`,
  )
  for (const { name } of rows) await sql.query(`drop index concurrently ${name}`)
}
