// Proves that migrations are applied once, however many processes start.
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { migrate, pendingMigrations } from '../../src/core/database/migrate.ts'
import { migrationNames, migrationScript } from '../../src/core/database/prisma-files.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { root } from '../kit/environment.ts'
import { emptyDatabase } from '../kit/old-database.ts'
import { until } from '../kit/until.ts'

const folder = path.join(root, 'prisma')

describe('migrations', () => {
  it('do nothing the second time', async () => {
    const url = await cloneDatabase()
    expect(await migrate(url)).toEqual([])
    expect(await migrate(url)).toEqual([])
  })

  it('are applied by one of several processes that start together', async () => {
    const url = await emptyDatabase()
    const all = await pendingMigrations(sql(url))
    const applied = await Promise.all([migrate(url), migrate(url), migrate(url)])
    expect(applied.filter((names) => names.length > 0)).toEqual([all])
    expect(await pendingMigrations(sql(url))).toEqual([])
  })

  it('report that they wait for another process', async () => {
    const url = await emptyDatabase()
    const other = await sql(url).connect()
    await other.query('select pg_advisory_lock(4617230001)')
    const said: string[] = []
    const migrating = migrate(url, (message) => said.push(message))
    await until(() => said.length > 0)
    expect(said).toEqual(['another process applies migrations; waiting for it'])
    other.release(true)
    expect(await migrating).not.toEqual([])
  })

  it('match the models in prisma/schema', async () => {
    const names = (await readdir(path.join(folder, 'schema'))).sort()
    const models = await Promise.all(names.map((name) => readFile(path.join(folder, 'schema', name), 'utf8')))
    const migrated = await readFile(path.join(folder, 'migrations/migrated.prisma'), 'utf8')
    expect(migrated, 'prisma/schema was changed without `npm run migrate:draft -- NAME`').toBe(models.join('\n'))
  })

  it('create an index CONCURRENTLY in a script of its own, because all other scripts are transactions', async () => {
    const scripts = await Promise.all(
      (await migrationNames()).map(async (name) => ({ name, script: await migrationScript(name) })),
    )
    const concurrent = scripts.filter(({ script }) => script.includes('CONCURRENTLY'))
    expect(concurrent.length).toBeGreaterThan(0)
    const statementsOf = (script: string) =>
      script
        .replace(/^--.*$/gm, '')
        .split(';')
        .filter((text) => text.trim()).length
    expect(concurrent.filter(({ script }) => statementsOf(script) > 1)).toEqual([])
  })

  it('make the rate windows an unlogged table, without write-ahead log', async () => {
    const { rows } = await sql(await cloneDatabase()).query(
      `select relpersistence as kind from pg_class where relname = 'rate_windows'`,
    )
    expect(rows).toEqual([{ kind: 'u' }])
  })
})
