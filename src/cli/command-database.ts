// The database for an operator's command, with or without a running gateway.
import type { App } from '../core/app.ts'
import { type Config, readConfig, type Secrets } from '../core/config/config.ts'
import { type Db, openDatabase as openPools } from '../core/database/database.ts'
import { openEmbedded } from '../core/database/embedded.ts'
import { migrate } from '../core/database/migrate.ts'
import { createLog } from '../core/log.ts'

/** The configuration, the URL of the database in use, and the key of its secrets. */
export interface Installation {
  config: Config
  secrets: Secrets
  url: string
  secretKey: Buffer
}

/** The configured database, embedded or external. An embedded one is started for the command if it is not running. */
export async function openDatabase() {
  const { config, secrets } = readConfig()
  const parts = new AsyncDisposableStack()
  const embedded = config.databaseUrl ? undefined : parts.use(await openEmbedded({ dataDir: config.dataDir, as: 'command' }))
  const url = config.databaseUrl ?? (embedded as { url: string }).url
  return {
    config,
    secrets,
    url,
    directUrl: config.databaseDirectUrl ?? url,
    secretKey: secrets.secretKey ?? (embedded as { secretKey: Buffer }).secretKey,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}

/** Applies the pending migrations of the gateway and of the job queue; returns the names of the gateway's. */
export async function installSchema(directUrl: string): Promise<readonly string[]> {
  const { PgBoss } = await import('pg-boss')
  const applied = await migrate(directUrl, console.error)
  const boss = new PgBoss({ connectionString: directUrl, supervise: false, schedule: false })
  // It reports idle connections that break. A statement that needs one fails by itself.
  boss.on('error', () => {})
  await boss.start()
  await boss.stop({ graceful: false })
  return applied
}

/** Opens the gateway without roles, so that it starts no background work. */
export async function openIdle({ config, secrets, url, secretKey }: Installation): Promise<App> {
  // Loads the whole gateway, which commands that only read do not need.
  const { openApp } = await import('../app.ts')
  const own = { config: { ...config, roles: new Set<never>() }, secrets: { ...secrets, secretKey } }
  // Standard output holds the result of the command alone.
  return await openApp({ ...own, databaseUrl: url, log: createLog(config.logLevel, process.stderr) })
}

/** Runs a command on the database, after pending migrations were applied. */
export async function withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
  await using database = await openDatabase()
  await migrate(database.directUrl, console.error)
  // A connection that breaks fails the next statement, which reports the error.
  await using pools = openPools(database.url, () => {}, { directUrl: database.config.databaseDirectUrl, max: 1 })
  return await work(pools.db)
}

/** Runs a command that leaves work for the gateway. */
export async function withApp<T>(work: (app: App) => Promise<T>): Promise<T> {
  const { createQueues } = await import('../worker.ts')
  await using database = await openDatabase()
  await migrate(database.directUrl)
  await using app = await openIdle(database)
  await app.boss.start()
  await createQueues(app)
  return await work(app)
}
