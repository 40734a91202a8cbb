// Databases for tests of migrations: an empty one, and one as a version before left it.
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { inject } from 'vitest'
import { migrationNames, migrationsDir } from '../../src/core/database/prisma-files.ts'
import { sql } from './database.ts'

/** Creates a database without tables on the shared server; returns its URL. */
export async function emptyDatabase(): Promise<string> {
  const url = new URL(inject('serverUrl'))
  const name = `empty_${randomUUID().replaceAll('-', '')}`
  await sql(url.href).query(`create database ${name}`)
  url.pathname = `/${name}`
  return url.href
}

/** A database in the state before the first migration that contains `mark`, and the scripts from that migration on. */
export async function databaseBefore(mark: string): Promise<{ url: string; scripts: string[] }> {
  const url = await emptyDatabase()
  const scripts = await Promise.all(
    (await migrationNames()).map((name) => readFile(path.join(migrationsDir, name, 'migration.sql'), 'utf8')),
  )
  const from = scripts.findIndex((script) => script.includes(mark))
  for (const script of scripts.slice(0, from)) await sql(url).query(script)
  return { url, scripts: scripts.slice(from) }
}
