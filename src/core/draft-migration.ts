// For developers: migrations from changes of prisma/schema.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { DiffTarget, SchemaContainer } from '@prisma/schema-engine-wasm/schema_engine_bg'
import pg from 'pg'
import { migrationNames, migrationsDir, schemaFiles } from './prisma-files.ts'
import { filters, openEngine, type SchemaEngine } from './schema-engine.ts'

const migratedSchemaFile = path.join(migrationsDir, 'migrated.prisma')

/**
 * Writes `NNNN_name/migration.sql`, the difference between prisma/schema as it was migrated last and as it
 * is now, and remembers it as migrated. `init` is the difference from nothing and is written again each time.
 * Returns the folder's name, or undefined when there is no difference. The engine wants a database, and leaves it as it is.
 */
export async function draftMigration(databaseUrl: string, name: string): Promise<string | undefined> {
  const number = name === 'init' ? 1 : Number((await migrationNames()).at(-1)?.slice(0, 4) ?? 0) + 1
  const folder = `${String(number).padStart(4, '0')}_${name}`
  const pool = new pg.Pool({ connectionString: databaseUrl })
  try {
    using engine = await openEngine(pool)
    const nothing = { tag: 'empty' as const }
    const script = await difference(engine, number === 1 ? nothing : { tag: 'schemaDatamodel', files: [await migratedSchema()] })
    if (!script) return undefined
    await mkdir(path.join(migrationsDir, folder), { recursive: true })
    await writeFile(path.join(migrationsDir, folder, 'migration.sql'), script)
    const { files } = await schemaFiles()
    await writeFile(migratedSchemaFile, files.map((file) => file.content).join('\n'))
    return folder
  } finally {
    await pool.end()
  }
}

/** The SQL that makes prisma/schema out of nothing, migrations or not. The engine wants a database, and leaves it as it is. */
export async function scriptOfModels(databaseUrl: string): Promise<string> {
  const pool = new pg.Pool({ connectionString: databaseUrl })
  try {
    using engine = await openEngine(pool)
    return (await difference(engine, { tag: 'empty' })) ?? ''
  } finally {
    await pool.end()
  }
}

/** The SQL from somewhere to prisma/schema as it is now; undefined where there is nothing to do. */
async function difference(engine: SchemaEngine, from: DiffTarget): Promise<string | undefined> {
  const to = { tag: 'schemaDatamodel' as const, ...(await schemaFiles()) }
  const { stdout } = await engine.diff({ from, to, script: true, exitCode: null, filters })
  return !stdout || stdout.startsWith('-- This is an empty migration') ? undefined : stdout
}

async function migratedSchema(): Promise<SchemaContainer> {
  return { path: 'schema.prisma', content: await readFile(migratedSchemaFile, 'utf8') }
}
