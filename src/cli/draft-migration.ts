// For developers: writes migrations from changes of prisma/schema.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { DiffTarget } from '@prisma/schema-engine-wasm/schema_engine_bg'
import { migrationNames, migrationsDir, schemaFiles } from '../core/database/prisma-files.ts'
import { withPool } from '../core/database/short-pool.ts'
import { filters, openEngine } from './schema-engine.ts'

const migratedSchemaFile = path.join(migrationsDir, 'migrated.prisma')

/**
 * Writes `NNNN_name/migration.sql`, the difference between prisma/schema as last migrated and as it is, and records it as migrated.
 * `init` is the difference from an empty schema and is written again each time. Returns the folder's name, or undefined when there is
 * no difference. The engine needs a database, and does not change it.
 */
export async function draftMigration(databaseUrl: string, name: string): Promise<string | undefined> {
  const number = name === 'init' ? 1 : Number((await migrationNames()).at(-1)?.slice(0, 4) ?? 0) + 1
  const folder = `${String(number).padStart(4, '0')}_${name}`
  const script = await scriptFrom(databaseUrl, number === 1 ? { tag: 'empty' } : await migratedModels())
  if (!script) return undefined
  await mkdir(path.join(migrationsDir, folder), { recursive: true })
  await writeFile(path.join(migrationsDir, folder, 'migration.sql'), script)
  const { files } = await schemaFiles()
  await writeFile(migratedSchemaFile, files.map((file) => file.content).join('\n'))
  return folder
}

/** The SQL that creates prisma/schema from nothing, whatever the migrations. The engine needs a database, and does not change it. */
export async function scriptOfModels(databaseUrl: string): Promise<string> {
  return (await scriptFrom(databaseUrl, { tag: 'empty' })) ?? ''
}

/** The SQL from `from` to prisma/schema as it is; undefined when there is no difference. */
async function scriptFrom(databaseUrl: string, from: DiffTarget): Promise<string | undefined> {
  return await withPool(databaseUrl, {}, async (pool) => {
    using engine = await openEngine(pool)
    const to = { tag: 'schemaDatamodel' as const, ...(await schemaFiles()) }
    const { stdout } = await engine.diff({ from, to, script: true, exitCode: null, filters })
    return !stdout || stdout.startsWith('-- This is an empty migration') ? undefined : stdout
  })
}

async function migratedModels(): Promise<DiffTarget> {
  return { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: await readFile(migratedSchemaFile, 'utf8') }] }
}
