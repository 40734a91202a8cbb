// Redelivers many deliveries of an endpoint, chunk by chunk. Each chunk commits together with its position and the job for the next one.
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { dayMs } from '../core/durations.ts'
import { fail } from '../core/errors.ts'
import { loadFound } from '../core/graph/load.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { delayOf, enqueueUnder, implementJob } from '../core/jobs/jobs.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { DeliveryStatus, WebhookRedelivery } from '../generated/prisma/client.ts'
import { enqueueDue } from './deliver-job.ts'
import { retentionDays } from './policy.ts'
import { refuseDisabled } from './redeliver.ts'
import {
  countDue,
  countMatching,
  endRedelivery,
  lockRedelivery,
  makeChunkDue,
  type OpenRedelivery,
  readLatest,
  readPending,
  saveProgress,
} from './redelivery.sql.ts'
import { redeliveryJob } from './redelivery-job.ts'
import { lockOwnEndpoint } from './service.ts'

/** Deliveries that one chunk looks at. */
const chunkSize = 1_000
/** With this many deliveries due, the next chunk waits, so that new events do not wait behind all old ones. */
const mostDue = 1_000
const lookAgainMs = 1_000
/** Deliveries that one statement counts, and statements that count for one redelivery, at most. */
const countedAtOnce = 50_000
const maxCounts = 10

/**
 * Starts a job that makes one more attempt of each delivery with that status, created at `since` or later; by default of all that are
 * kept.
 * @throws VALIDATION_ERROR when the status is `pending`, INVALID_STATE when the endpoint is disabled or has such a job already; as
 * {@link lockOwnEndpoint}.
 */
export async function redeliverAll(
  ctx: Context,
  endpointId: string,
  { since, status }: { since: Date | null; status: DeliveryStatus },
): Promise<WebhookRedelivery> {
  if (status === 'pending') fail('VALIDATION_ERROR', 'status: must be failed, retrying or delivered')
  return await write(ctx, async (tx) => {
    refuseDisabled(await lockOwnEndpoint(ctx, tx, endpointId))
    const open = await tx.db.webhookRedelivery.count({ where: { endpointId, status: { in: ['pending', 'processing'] } } })
    if (open > 0) fail('INVALID_STATE', 'Deliveries of this endpoint are being redelivered already')
    const { workspaceId } = ctx.principal
    const from = since ?? new Date(Date.now() - retentionDays * dayMs)
    const redelivery = await tx.db.webhookRedelivery.create({
      data: { id: newId(), workspaceId, endpointId, of: status, since: from },
    })
    await enqueueUnder(ctx.app, tx, redeliveryJob, redelivery.id, { data: { id: redelivery.id } })
    return redelivery
  })
}

/** @throws NOT_FOUND when the workspace has no such redelivery. */
export async function readRedelivery({ app, principal }: Context, id: string): Promise<WebhookRedelivery> {
  const { workspaceId } = principal
  return (
    (await app.db.webhookRedelivery.findFirst({ where: { id, workspaceId } })) ??
    fail('NOT_FOUND', 'Webhook redelivery not found')
  )
}

/** The latest redelivery of an endpoint; null if there was none. */
export async function latestRedelivery(ctx: Context, endpointId: string): Promise<WebhookRedelivery | null> {
  return await loadFound(ctx, 'latest redeliveries', endpointId, null, async (ids) => {
    return new Map((await readLatest(ctx.app.pool, ids)).map((row) => [row.endpointId, row]))
  })
}

export const redeliveryImplementation = implementJob(
  redeliveryJob,
  { batchSize: 4, workers: 1 },
  async (app, jobs) => {
    for (const { id } of jobs) {
      const counted = await countRequested(app, id)
      await sqlTransaction(app.pool, (tx) => doChunk(app, tx, id, counted))
    }
    return jobs.map(() => undefined)
  },
  (app, { id }) => sqlTransaction(app.pool, (tx) => end(tx, id, 'INTERNAL_ERROR')),
)

/**
 * Counts the deliveries that a redelivery is about, before it begins: the settling of deliveries waits for the lock under which a chunk
 * is done. Of very many deliveries it counts the first ones only.
 */
async function countRequested(app: App, id: string): Promise<number> {
  let next = await readPending(app.pool, id)
  let count = 0
  for (let counts = 0; next && counts < maxCounts; counts++) {
    const { scanned, matching, lastTime, lastId } = await countMatching(app.pool, next, countedAtOnce)
    count += matching
    next = scanned < countedAtOnce ? undefined : { ...next, afterTime: lastTime, afterId: lastId }
  }
  return count
}

async function doChunk(app: App, tx: Sql, id: string, counted: number): Promise<void> {
  const open = await lockRedelivery(tx, id)
  if (!open) return
  if (open.stopped) return await end(tx, id, open.stopped)
  const requestedCount = open.status === 'pending' ? counted : open.requestedCount
  if ((await countDue(tx, open.endpointId, mostDue)) < mostDue) return await advance(app, tx, { ...open, requestedCount })
  await saveProgress(tx, { ...open, requestedCount })
  await announceChange(tx, subject('webhookRedelivery', id))
  await enqueueUnder(app, tx, redeliveryJob, id, { data: { id }, startAfter: delayOf(lookAgainMs) })
}

async function advance(app: App, tx: Sql, open: OpenRedelivery): Promise<void> {
  const { id, endpointId } = open
  const { scanned, lastTime, lastId, made } = await makeChunkDue(tx, open, chunkSize)
  await enqueueDue(
    app,
    tx,
    made.map((delivery) => ({ id: delivery, endpointId })),
    'bulk',
  )
  await app.failpoint('redeliver.mid_chunk')
  const processedCount = open.processedCount + made.length
  await saveProgress(tx, { ...open, processedCount, afterTime: lastTime ?? open.afterTime, afterId: lastId ?? open.afterId })
  if (scanned < chunkSize) return await end(tx, id, null)
  await announceChange(tx, subject('webhookRedelivery', id))
  await enqueueUnder(app, tx, redeliveryJob, id, { data: { id } })
}

async function end(tx: Sql, id: string, error: string | null): Promise<void> {
  await endRedelivery(tx, id, error)
  await announceChange(tx, subject('webhookRedelivery', id))
}
