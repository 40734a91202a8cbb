// Reads the models and migrations in prisma/, in the form that the schema engine expects.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { MigrationList, SchemasContainer } from '@prisma/schema-engine-wasm/schema_engine_bg'

const prismaDir = path.resolve(import.meta.dirname, '../../../prisma')
export const migrationsDir = path.join(prismaDir, 'migrations')

/** Folder names in prisma/migrations, oldest first. */
export async function migrationNames(): Promise<string[]> {
  const entries = await readdir(migrationsDir, { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
}

/** Content of prisma/migrations for the schema engine. */
export async function migrationList(): Promise<MigrationList> {
  const folders = await migrationNames()
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
