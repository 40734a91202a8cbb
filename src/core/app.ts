// The App object: dependencies that every part of the gateway receives. Created once at start, disposed of once at the end.
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Config, Secrets } from './config/config.ts'
import { Client } from './database/client.ts'
import { type Db, longestSilenceMs, openDatabase, type Read, type Sql } from './database/database.ts'
import type { ForgottenWatch } from './database/forgotten.ts'
import { sessionOptions } from './database/session.ts'
import type { Tx } from './database/transaction.ts'
import { createFailpoint, type FailpointHit } from './failpoint.ts'
import type { Fit, Fitted } from './fit.ts'
import type { Author } from './graph/author.ts'
import { byIndexes } from './jobs/due.sql.ts'
import { createLog, type Log } from './log.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { createEgress, type Egress } from './network/egress.ts'
import type { PlanLimits, Principal, TeamRole } from './principal.ts'
import { createSealer, type Sealer } from './seal.ts'

/** In-process signals that wake waiting code before its next poll. A lost signal costs time, never data. */
export interface Signals {
  /** Rows were added to the outbox. */
  outbox: []
  /** The relay has numbered events up to `last`. */
  events: [last: bigint]
  /** Messages wait under this key, and may leave after so many milliseconds. */
  held: [key: string, afterMs: number]
  /** A message waits for an earlier one to the same recipient. */
  line: [recipient: { instanceId: string; peer: string }]
}

/** One kind of resource that plans limit. */
export interface LimitedKind {
  /** Fits what an owner has of this kind to the plan; see core/fit.ts. */
  fit: (app: App, tx: Tx, fit: Fit) => Promise<Fitted>
  /** SQL query of all that count against plans: `"workspaceId"`, and whether it rests as `resting`. */
  counted: string
}

/** A message of a campaign that will not change any more. */
export interface EndedMessage {
  id: string
  campaignId: string | null
  status: string
  error: string | null
  updatedAt: Date
}

type CheckRow = (db: Db, workspaceId: string, id: string) => Promise<void>

/** Calls from a domain up to a higher one, inside the caller's transaction. src/app.ts says who answers each. */
export interface Hooks {
  /**
   * Returns the caller's present role in the team; null for a key and in a personal workspace. Locks the membership, or the
   * key, for the transaction `tx`, so that a later removal waits for it.
   * @throws TEAM_NOT_FOUND when the user has left the team; UNAUTHORIZED when the team key is revoked.
   */
  lockCallerRole: (tx: Sql, principal: Principal) => Promise<TeamRole | null>
  /**
   * Returns the limits of the user's own plan, and locks the subscription for the transaction.
   * @throws SUBSCRIPTION_INACTIVE when the subscription is not active.
   */
  lockLimits: (tx: Tx, userId: string) => Promise<PlanLimits>
  /**
   * Returns the limits of the plan that pays for a workspace, for a transaction that creates something in it, for a caller or for a
   * network. The row lock on the subscription serializes concurrent creations and changes of the plan.
   * @throws SUBSCRIPTION_INACTIVE when the subscription is not active; TEAM_NOT_FOUND, or UNAUTHORIZED for a team key, when the
   * team was deleted meanwhile.
   */
  lockQuota: (tx: Tx, workspace: Pick<Principal, 'ownerId' | 'workspaceId'> & Partial<Principal>) => Promise<PlanLimits>
  /**
   * Takes one request from the person's per-second limit for sign-in routes.
   * @throws API_RATE_LIMIT_EXCEEDED when the limit is used up.
   */
  limitSignIn: (app: App, userId: string) => Promise<void>
  /** Reads users, as the graph shows the person who made something. */
  readAuthors: (db: Db, ids: readonly string[]) => Promise<Author[]>
  /** Revokes the open invitations to teams that the person owns, and those that the person sent. */
  revokeInvitations: (tx: Tx, userId: string) => Promise<void>
  /** True if the address has an open invitation to a team. */
  isInvited: (db: Tx['db'], email: string) => Promise<boolean>
  /** Let resources rest that exceed a plan, and resume them. */
  limitedInstances: LimitedKind
  limitedEndpoints: LimitedKind
  /** The endpoints in all workspaces that count against the plan of that account. */
  countEndpoints: (db: Db, ownerId: string) => Promise<number>
  /** Releases the messages that wait for an instance when it connects or is deleted. */
  releaseWaiting: (app: App, tx: Sql, instanceId: string) => Promise<void>
  /** How many messages campaigns are going to send through each instance, in each of the `days` times 24 hours from `from` on. */
  plannedSends: (app: App, instanceIds: readonly string[], from: Date, days: number) => Promise<number[][]>
  /** Returns for each number whether it is on the network, as far as the messages of the instance show it. */
  knownNumbers: (
    app: App,
    instance: { id: string; workspaceId: string },
    numbers: readonly string[],
  ) => Promise<Map<string, boolean>>
  /**
   * Locks all messages of these contacts, which are about to be deleted, and withdraws those of campaigns that have not left. Returns what must
   * be called last in the transaction.
   */
  leaveOutOfCampaigns: (app: App, tx: Sql, contactIds: readonly string[]) => Promise<() => Promise<void>>
  /**
   * Adds a step of each of these campaigns that sends nothing now, because it is paused, cancelled or in its quiet hours: the step takes back its
   * messages that have not left. Returns these campaigns.
   */
  enqueueTakeBack: (app: App, tx: Sql, campaignIds: readonly string[]) => Promise<ReadonlySet<string>>
  /** Starts the next steps of these campaigns now, because messages of theirs that waited for their instance may leave. */
  continueCampaigns: (tx: Sql, campaignIds: readonly string[]) => Promise<void>
  /** Locks campaigns in the order of their ids. A transaction that changes a campaign locks it before the messages of the campaign. */
  lockCampaigns: (tx: Sql, campaignIds: readonly string[]) => Promise<void>
  /**
   * Keeps the last status of the recipients whose messages are about to be deleted, so that the counts of their campaigns stay. Relies on
   * `lockCampaigns`.
   */
  keepRecipients: (tx: Sql, messages: readonly EndedMessage[]) => Promise<void>
  /**
   * Cancels the planned recipients with this number in campaigns of the workspace, and erases their text. Returns the ids of messages that
   * had been enqueued for them and taken back, under which the event log knows them.
   */
  eraseRecipients: (app: App, tx: Sql, workspaceId: string, phone: string) => Promise<string[]>
  /** Erases the messages of the workspace with this number, in both directions, soon after the transaction commits. */
  eraseNumber: (app: App, tx: Sql, of: Pick<Principal, 'workspaceId' | 'ownerId'>, phone: string) => Promise<void>
  /** Erases what the receivers of webhooks answered to events of these messages. */
  eraseAnswers: (tx: Sql, messageIds: readonly string[]) => Promise<void>
  /** Deletes all webhook endpoints of a workspace. */
  deleteEndpoints: (tx: Sql, workspaceId: string) => Promise<void>
  /** Check that the workspace has the row that an event filter names. @throws NOT_FOUND when it has none. */
  checkInstance: CheckRow
  checkMessage: CheckRow
  checkCampaign: CheckRow
  /** The payload of a test delivery of an event type. @throws Error when no domain defines the type. */
  sampleEvent: (type: string, id: string, at: Date) => object
  /** Disables the webhook endpoints of the workspace that the person created or approved. */
  disableEndpoints: (tx: Sql, workspaceId: string, userId: string) => Promise<void>
}

/** A domain's own process-wide parts are not listed here: see core/part.ts. */
export interface App extends AsyncDisposable {
  config: Config
  secrets: Secrets
  pool: pg.Pool
  /** Connections with asynchronous commit; see core/database/database.ts. */
  quickPool: pg.Pool
  /** For reads of a few rows by an index; see core/database/database.ts. */
  batchedRead: Read
  db: Db
  /** Finds connections that the network has forgotten. */
  forgotten: ForgottenWatch
  boss: PgBoss
  log: Log
  metrics: Metrics
  sealer: Sealer
  signals: EventEmitter<Signals>
  failpoint: FailpointHit
  /** The only HTTP client for addresses that callers supply (SSRF protection). */
  egress: Egress
  hooks: Hooks
  /** Names this process among all that use the database: a UUID, new with each start. */
  node: string
  /** True from the stop signal on: `/readyz` says so, and everything else goes on. */
  draining: boolean
  /** True once the process stops: requests are refused. */
  stopping: boolean
  /** Address that the server listens on; undefined until it listens. */
  address: string | undefined
}

export interface AppOptions {
  config: Config
  secrets: Secrets
  /** URL of the database in use, embedded or external. */
  databaseUrl: string
  /** By default it writes to standard output. */
  log?: Log
  hooks: Hooks
}

/** Opens the database and the job queue without starting any work. */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, secrets, databaseUrl, hooks } = options
  if (!secrets.secretKey) throw new Error('SECRET_KEY is not set')
  const log = options.log ?? createLog(config.logLevel)
  const metrics = createMetrics()
  const onLost = (error: Error) => log.warn({ err: error.message }, 'database connection lost')
  const database = openDatabase(databaseUrl, onLost, { directUrl: config.databaseDirectUrl })
  class JobClient extends Client {
    constructor(config?: pg.ClientConfig) {
      super(config)
      this.once('connect', () => database.forgotten.add(this))
    }
  }
  const boss = new PgBoss({
    // Its notifications and its settings belong to a session.
    connectionString: config.databaseDirectUrl ?? databaseUrl,
    max: 4,
    // Options of its pool, which the types of pg-boss do not declare. `query_timeout` closes a connection whose statement got no answer for
    // that long.
    ...{ query_timeout: longestSilenceMs, keepAlive: true, Client: JobClient },
    // For the connection that listens: its loss would otherwise go unnoticed for 15 s.
    notifyHeartbeatIntervalMs: 3_000,
    notifyHeartbeatTimeoutMs: 2_000,
    application_name: 'gateway-jobs',
    useListenNotify: true,
    options: `${sessionOptions} ${byIndexes}`,
    // The alarm of due jobs asks for more when a job lost its worker and while many jobs finish (core/jobs/job-alarm.ts).
    superviseIntervalSeconds: 600,
    monitorIntervalSeconds: 1,
    maintenanceIntervalSeconds: 60,
    // No job here depends on another one.
    flowIntervalSeconds: 60,
    cronWorkerIntervalSeconds: 10,
    supervise: config.roles.has('worker'),
    schedule: config.roles.has('worker'),
  })
  const egress = createEgress({ allowed: config.allowedPrivateTargets })
  boss.on('error', (error) => log.warn({ err: error.message }, 'job queue error'))
  return {
    config,
    secrets,
    pool: database.pool,
    quickPool: database.quickPool,
    batchedRead: database.batchedRead,
    db: database.db,
    forgotten: database.forgotten,
    boss,
    log,
    metrics,
    sealer: createSealer(secrets.secretKey, secrets.previousSecretKey),
    signals: new EventEmitter<Signals>().setMaxListeners(0),
    failpoint: createFailpoint(config.failpoint),
    egress,
    hooks,
    node: randomUUID(),
    draining: false,
    stopping: false,
    address: undefined,
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: true, timeout: 8_000 }).catch(() => {})
      await egress[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}
