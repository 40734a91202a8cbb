// What every part of the gateway is handed: built once at start, disposed of once at the end.
import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Config, Secrets } from './config/config.ts'
import { type Db, openDatabase, type Read } from './database/database.ts'
import { createFailpoint, type FailpointHit } from './failpoint.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createEgress, type Egress } from './network/egress.ts'
import { createSealer, type Sealer } from './seal.ts'

/** News inside one process, so that nobody waits for a poll. Losing one costs time, never data. */
export interface Signals {
  /** Rows were added to the outbox. */
  outbox: []
  /** The relay numbered events up to this one. */
  events: [last: bigint]
}

/** Domains that own something for the whole process declare it here by merging, and `attachDomains` (src/domains.ts) makes it. */
export interface App extends AsyncDisposable {
  config: Config
  secrets: Secrets
  pool: pg.Pool
  /** Commits without waiting for the disk; see core/database.ts. */
  quickPool: pg.Pool
  shortRead: Read
  longRead: Read
  db: Db
  boss: PgBoss
  log: Log
  metrics: Metrics
  sealer: Sealer
  signals: EventEmitter<Signals>
  failpoint: FailpointHit
  /** The only way to addresses that callers name. */
  egress: Egress
  /** Set when the process was told to stop: it is not ready any more. */
  stopping: boolean
  /** Where the server listens, once it does. */
  address: string | undefined
}

export interface AppOptions {
  config: Config
  secrets: Secrets
  /** The database in use, embedded or outside. */
  databaseUrl: string
}

/** Opens the database and the job queue, without starting any work; the domains' own parts are attached by `attachDomains`. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, secrets, databaseUrl } = options
  if (!secrets.secretKey) throw new Error('SECRET_KEY is not set')
  const log = createLog(config.logLevel)
  const metrics = createMetrics()
  const database = openDatabase(databaseUrl, (error) => log.warn({ err: error.message }, 'database connection lost'))
  const boss = new PgBoss({
    connectionString: databaseUrl,
    backend: config.databaseBackend,
    max: 4,
    application_name: 'gateway-jobs',
    useListenNotify: true,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
    supervise: config.roles.has('worker'),
    schedule: config.roles.has('worker'),
  })
  const egress = createEgress({ allowed: config.allowedPrivateTargets })
  boss.on('error', (error) => log.warn({ err: error.message }, 'job queue error'))
  const core = {
    config,
    secrets,
    pool: database.pool,
    quickPool: database.quickPool,
    shortRead: database.shortRead,
    longRead: database.longRead,
    db: database.db,
    boss,
    log,
    metrics,
    sealer: createSealer(secrets.secretKey),
    signals: new EventEmitter<Signals>().setMaxListeners(0),
    failpoint: createFailpoint(config.failpoint),
    egress,
    stopping: false,
    address: undefined,
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: true, timeout: 8_000 }).catch(() => {})
      await egress[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
  return core as unknown as App
}
