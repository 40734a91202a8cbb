// Reads the models and migrations in prisma/.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { SchemasContainer } from '@prisma/schema-engine-wasm/schema_engine_bg'

const prismaDir = path.resolve(import.meta.dirname, '../../../prisma')
export const migrationsDir = path.join(prismaDir, 'migrations')

let names: Promise<readonly string[]> | undefined

/**
 * Names of the folders in prisma/migrations, oldest first. They are read once: an upgrade puts those of the next version into their place while
 * this process runs, and its `/readyz` would ask for them.
 */
export function migrationNames(): Promise<readonly string[]> {
  names ??= readNames().catch((error: Error) => {
    names = undefined
    throw error
  })
  return names
}

async function readNames(): Promise<string[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** The SQL of a migration. */
export async function migrationScript(name: string): Promise<string> {
  return await readFile(path.join(migrationsDir, name, 'migration.sql'), 'utf8')
}

/** The models of this version, for the schema engine. */
export async function schemaFiles(): Promise<SchemasContainer> {
  const folder = path.join(prismaDir, 'schema')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.prisma')).sort()
  return {
    files: await Promise.all(
      names.map(async (name) => ({ path: name, content: await readFile(path.join(folder, name), 'utf8') })),
    ),
  }
}
