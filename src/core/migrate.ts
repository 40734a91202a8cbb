// Brings the database to the shape this code expects, with Prisma's schema engine as WebAssembly: no download, no binary.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import type * as Bindings from '@prisma/schema-engine-wasm/schema_engine_bg'
import type { MigrationList, SchemaContainer, SchemaEngine, SchemasContainer } from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import type { Sql } from './database.ts'

const prismaDir = path.resolve(import.meta.dirname, '../../prisma')
const migrationsDir = path.join(prismaDir, 'migrations')
const migratedSchemaFile = path.join(migrationsDir, 'migrated.prisma')
const filters = { externalTables: [], externalEnums: [] }
/** Any number will do, as long as every process takes the same one. */
const lockKey = 4_617_230_001

/** The migrations that this database has yet to see, oldest first. */
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
 * Applies what is pending, one process at a time, and returns the names of what it applied.
 * The engine is loaded only when something is pending.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 3, application_name: 'gateway-migrate' })
  // A connection that breaks while idle fails the next statement, which says so.
  pool.on('error', () => {})
  try {
    if ((await pendingMigrations(pool)).length === 0) return []
    const lock = await pool.connect()
    try {
      await lock.query('select pg_advisory_lock($1)', [lockKey])
      const pending = await pendingMigrations(lock)
      if (pending.length === 0) return []
      using engine = await openEngine(pool)
      await forgetInterrupted(lock, engine)
      const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList: await migrationList(), filters })
      return appliedMigrationNames
    } finally {
      // Closing the connection gives the lock back.
      lock.release(true)
    }
  } finally {
    await pool.end()
  }
}

/**
 * For developers: writes `NNNN_name/migration.sql`, the difference between prisma/schema as it was migrated last and as it
 * is now, and remembers it as migrated. `init` is the difference from nothing and is written again each time.
 * Returns the folder's name, or undefined when there is no difference. The engine wants a database, and leaves it as it is.
 */
export async function draftMigration(databaseUrl: string, name: string): Promise<string | undefined> {
  const number = name === 'init' ? 1 : Number((await migrationNames()).at(-1)?.slice(0, 4) ?? 0) + 1
  const folder = `${String(number).padStart(4, '0')}_${name}`
  const schema = await schemaFiles()
  const pool = new pg.Pool({ connectionString: databaseUrl })
  try {
    using engine = await openEngine(pool)
    const { stdout } = await engine.diff({
      from: number === 1 ? { tag: 'empty' } : { tag: 'schemaDatamodel', files: [await migratedSchema()] },
      to: { tag: 'schemaDatamodel', ...schema },
      script: true,
      exitCode: null,
      filters,
    })
    if (!stdout || stdout.startsWith('-- This is an empty migration')) return undefined
    await mkdir(path.join(migrationsDir, folder), { recursive: true })
    await writeFile(path.join(migrationsDir, folder, 'migration.sql'), stdout)
    await writeFile(migratedSchemaFile, schema.files.map((file) => file.content).join('\n'))
    return folder
  } finally {
    await pool.end()
  }
}

async function migratedSchema(): Promise<SchemaContainer> {
  return { path: 'schema.prisma', content: await readFile(migratedSchemaFile, 'utf8') }
}

/** A process that died in the middle leaves a row without an end. Its script ran in one transaction, so nothing of it stayed. */
async function forgetInterrupted(sql: Sql, engine: SchemaEngine): Promise<void> {
  const { rows: tables } = await sql.query(`select to_regclass('_prisma_migrations') as name`)
  if (!tables[0]?.name) return
  const { rows } = await sql.query<{ name: string }>(
    `select distinct migration_name as name from _prisma_migrations where finished_at is null and rolled_back_at is null`,
  )
  for (const { name } of rows) await engine.markMigrationRolledBack({ migrationName: name })
}

async function openEngine(pool: pg.Pool): Promise<SchemaEngine> {
  bindings ??= loadEngine()
  const { files } = await schemaFiles()
  return await (await bindings).SchemaEngine.new(
    { datamodels: files.map((schema) => [schema.path, schema.content]) },
    () => {},
    bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool)),
  )
}

/** The part used here; TypeScript has it only with the browser's library. */
declare const WebAssembly: {
  compile: (bytes: Uint8Array) => Promise<object>
  instantiate: (module: object, imports: object) => Promise<{ exports: Record<string, unknown> }>
}

/** One for the process: the package keeps views on the memory of the instance it was given first. */
let bindings: Promise<typeof Bindings> | undefined

async function loadEngine(): Promise<typeof Bindings> {
  // The package's own entry imports the module as ESM, which Node 24 does with a warning; instantiating it does the same quietly.
  const loaded = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const file = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm/schema_engine_bg')
    .replace(/\.js$/, '.wasm')
  const module = await WebAssembly.compile(await readFile(file))
  // It never clears the timer that limits its wait for a lock, and would hold the process for 10 s.
  const patient = (run: () => void, ms: number) => setTimeout(run, ms).unref()
  const imports = Object.entries(loaded).map(([name, value]) => [name, name.startsWith('__wbg_setTimeout_') ? patient : value])
  const instance = await WebAssembly.instantiate(module, { './schema_engine_bg.js': Object.fromEntries(imports) })
  loaded.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as () => void)()
  return loaded
}

async function migrationNames(): Promise<string[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

async function migrationList(names?: readonly string[]): Promise<MigrationList> {
  const folders = names ?? (await migrationNames())
  return {
    baseDir: migrationsDir,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      folders.map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await readFile(path.join(migrationsDir, name, 'migration.sql'), 'utf8') },
        },
      })),
    ),
  }
}

async function schemaFiles(): Promise<SchemasContainer> {
  const folder = path.join(prismaDir, 'schema')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.prisma')).sort()
  return {
    files: await Promise.all(
      names.map(async (name) => ({ path: name, content: await readFile(path.join(folder, name), 'utf8') })),
    ),
  }
}
