// Settles attempts: writes their outcomes while their leases hold, with the next attempt or the final status.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import { deliverJob, deliverRequest } from './deliver-job.ts'
import { lockHealth, storeHealth } from './endpoints.sql.ts'
import { type Health, healthAfter, type News } from './health.ts'
import { automaticAttempts, gapMs } from './policy.ts'
import { cancelDeliveries, readHeld, type Settlement, writeVerdicts } from './settle.sql.ts'

/** Milliseconds until the next attempt; null when there is none, or when another process has the lease. */
export type Settled = number | null

/**
 * Commits verdicts in one transaction (group commit). Those whose lease passed to another process are skipped (fencing) and counted.
 * @throws when the database is unavailable; it is logged once for all of them.
 */
export async function settleDeliveries(app: App, settlements: readonly Settlement[]): Promise<Settled[]> {
  try {
    return await settleTogether(app, settlements)
  } catch (error) {
    app.log.warn({ deliveries: settlements.length, err: (error as Error).message }, 'webhook outcomes not stored')
    throw error
  }
}

async function settleTogether(app: App, settlements: readonly Settlement[]): Promise<Settled[]> {
  return await sqlTransaction(app.pool, async (tx) => {
    await noteHealth(app, tx, settlements)
    const gaps = settlements.map((settlement) => gapOf(app, settlement))
    const written = await writeVerdicts(tx, settlements, gaps)
    const again = written.flatMap((row) => (row.nextAttemptAt ? [deliverRequest(row, 'bulk', row.nextAttemptAt)] : []))
    await enqueue(app, tx, deliverJob, again)
    if (written.length < settlements.length) app.metrics.fencedWrites.inc(settlements.length - written.length)
    const open = new Set(again.map(({ data }) => data.id))
    return settlements.map(({ delivery }, i) => (open.has(delivery.id) ? (gaps[i] ?? null) : null))
  })
}

function gapOf(app: App, { delivery, verdict }: Settlement): number | null {
  if (verdict.delivered || delivery.attemptsLeft === 0) return null
  if (verdict.error === 'interrupted') return 0
  return gapMs(automaticAttempts - delivery.attemptsLeft, app.config.webhookRetryBaseMs, verdict.retryAfterMs)
}

/**
 * Updates the health of endpoints. The common case, a healthy endpoint with successes only, locks and writes nothing. The state of an endpoint
 * is read here, because another attempt may have failed since the claim. An attempt that lost its lease says nothing, and one that is settled
 * again because the answer to the commit was lost counts once: the leases are read under the locks of the endpoints.
 */
async function noteHealth(app: App, tx: Sql, settlements: readonly Settlement[]): Promise<void> {
  const telling = settlements.filter(tellsHealth)
  if (telling.length === 0) return
  const failed = settlements.filter(({ verdict }) => !verdict.delivered).map(({ delivery }) => delivery.endpointId)
  const ids = [...new Set(telling.map(({ delivery }) => delivery.endpointId))]
  const endpoints = await lockHealth(tx, ids, failed)
  if (endpoints.length === 0) return
  const held = Map.groupBy(await readHeld(tx, telling), ({ delivery }) => delivery.endpointId)
  const changed: (Health & { id: string })[] = []
  const disabled: string[] = []
  for (const row of endpoints) {
    // An attempt that was made at a previous URL says nothing about the present one.
    const attempts = held.get(row.id)?.filter(({ delivery }) => delivery.url === row.url) ?? []
    if (attempts.length === 0) continue
    const after = healthAfter(row, newsOf(attempts), row.now)
    changed.push({ id: row.id, ...after })
    if (!after.disabledReason || row.disabledReason) continue
    app.log.warn({ endpointId: row.id, reason: after.disabledReason }, 'webhook endpoint disabled')
    disabled.push(row.id)
  }
  await storeHealth(tx, changed)
  await cancelDeliveries(tx, disabled, 'endpoint_disabled')
}

/** True for an outcome that affects health. An attempt that this process aborted or could not sign says nothing about the receiver. */
function tellsHealth({ verdict }: Settlement): boolean {
  return verdict.error !== 'interrupted' && verdict.error !== 'secret_unreadable'
}

function newsOf(attempts: readonly Settlement[]): News {
  return {
    anyDelivered: attempts.some(({ verdict }) => verdict.delivered),
    failedEvents: attempts.filter(({ delivery, verdict }) => !verdict.delivered && delivery.attempt === 1).length,
    gone: attempts.some(({ verdict }) => verdict.gone),
  }
}
