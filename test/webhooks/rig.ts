// Setup for tests of deliveries: an App on its own clone of the database, with the relay and the webhook jobs running.
import { openApp as openGateway } from '../../src/app.ts'
import type { App } from '../../src/core/app.ts'
import { readConfig } from '../../src/core/config/config.ts'
import type { Context } from '../../src/core/context.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { makeQueues, workOn } from '../../src/core/jobs/work.ts'
import { createEgress, type EgressOptions } from '../../src/core/network/egress.ts'
import { emit } from '../../src/events/log/emit.ts'
import { startRelay } from '../../src/events/log/relay.ts'
import type { DeliveryStatus } from '../../src/generated/prisma/client.ts'
import { messageEvent } from '../../src/messages/events.ts'
import { deliveryQueues } from '../../src/webhooks/delivery-queues.ts'
import { webhookJobs } from '../../src/webhooks/jobs.ts'
import { createEndpoint, type Endpoint } from '../../src/webhooks/service.ts'
import { webhookSink } from '../../src/webhooks/sink.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { until } from '../kit/until.ts'
import { contextFor } from '../messages/rig.ts'

export interface Rig {
  app: App
  account: Account
  ctx: Context
  /** Creates an endpoint of the account, for `message.sent` by default. */
  endpoint: (url: string, events?: string[]) => Promise<Endpoint & { shownSecret: string }>
  /** Emits `message.sent` so many times, and returns the ids of the events in order. */
  emit: (count?: number) => Promise<string[]>
  deliveries: (endpointId: string) => Promise<DeliveryRow[]>
}

export interface DeliveryRow {
  id: string
  eventId: string
  status: DeliveryStatus
  attempts: number
  attemptsLeft: number
  responseCode: number | null
  error: string | null
  nextAttemptAt: Date | null
  deliveredAt: Date | null
}

export interface RigOptions {
  /** Environment variables beyond the usual. */
  env?: Record<string, string>
  egress?: Partial<EgressOptions>
  /** True (the default) starts the workers that make deliveries. */
  working?: boolean
  /** A clone of its own by default. */
  databaseUrl?: string
}

/** Waits until the endpoint has `count` deliveries, all with the wanted status. */
export async function settled(rig: Rig, endpointId: string, wanted: DeliveryStatus, count = 1): Promise<DeliveryRow[]> {
  // Reads no row before all have that status, because a test may wait for thousands.
  const text = `select * from webhook_deliveries where "endpointId" = $1
    and not exists (select from webhook_deliveries where "endpointId" = $1 and status <> $2) order by "createdAt", id`
  return await until(async () => {
    const { rows } = await sql(rig.app.config.databaseUrl as string).query<DeliveryRow>(text, [endpointId, wanted])
    return rows.length === count ? rows : null
  })
}

/** An App with an account. It ends with the test, or with the file when no test runs. */
export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const { env, egress, working = true } = options
  const databaseUrl = options.databaseUrl ?? (await cloneDatabase())
  const { config, secrets } = readConfig({
    NODE_ENV: 'test',
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'silent',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32',
    WEBHOOK_RETRY_BASE_SECONDS: '0.05',
    ...env,
  })
  const app = await openGateway({ config, secrets, databaseUrl })
  app.egress = createEgress({ allowed: config.allowedPrivateTargets, ...egress })
  const parts = new AsyncDisposableStack()
  parts.use(app)
  parts.use(app.egress)
  atEnd('test', () => parts.disposeAsync())
  await app.boss.start()
  await makeQueues(app, webhookJobs)
  if (working) {
    parts.use(deliveryQueues(app).start())
    parts.use(await startRelay(app, [webhookSink(app)]))
    parts.use(await workOn(app, webhookJobs))
    parts.defer(() => app.boss.stop({ graceful: true, timeout: 5_000 }))
  }
  return await newRig(app)
}

/** Another account in the same App. */
export async function newRig(app: App): Promise<Rig> {
  const databaseUrl = app.config.databaseUrl as string
  const account = await createAccount(databaseUrl)
  const instance = await connectedInstance(databaseUrl, account)
  const ctx = contextFor(app, account)
  return {
    app,
    account,
    ctx,
    async endpoint(url, events = ['message.sent']) {
      return (await createEndpoint(ctx, { url, events })) as Endpoint & { shownSecret: string }
    },
    async emit(count = 1) {
      const mark = newId()
      const at = new Date()
      const message = {
        id: mark,
        workspaceId: account.workspaceId,
        instanceId: instance.id,
        campaignId: null,
        providerMessageId: 'p',
        to: '+15550100',
      }
      const news = Array.from({ length: count }, () => messageEvent(message, 'sent', at))
      await sqlTransaction(app.pool, (tx) => emit(tx, news))
      const { rows } = await sql(databaseUrl).query<{ id: string }>(
        `select id from (select id, "messageId" from outbox union all select id, "messageId" from events) e where "messageId" = $1 order by id`,
        [mark],
      )
      app.signals.emit('outbox')
      return rows.map((row) => row.id)
    },
    async deliveries(endpointId) {
      const { rows } = await sql(databaseUrl).query<DeliveryRow>(
        'select * from webhook_deliveries where "endpointId" = $1 order by "createdAt", id',
        [endpointId],
      )
      return rows
    },
  }
}
