// Settles attempts: writes their outcomes while their leases hold, with the next attempt or the final status.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import type { ClaimedDelivery } from './claim.ts'
import { deliverJob, deliverRequest } from './deliver-job.ts'
import { healthAfter, type News } from './health.ts'
import { automaticAttempts, gapMs, type Verdict } from './policy.ts'

export interface Settlement {
  delivery: ClaimedDelivery
  token: string
  verdict: Verdict
}

/** Milliseconds until the next attempt; null when there is none, or when another process has the lease. */
export type Settled = number | null

/** Commits verdicts in one transaction (group commit). Those whose lease passed to another process are skipped (fencing) and counted. */
export async function settleDeliveries(app: App, settlements: readonly Settlement[]): Promise<Settled[]> {
  return await sqlTransaction(app.pool, async (tx) => {
    await noteHealth(app, tx, settlements)
    const gaps = settlements.map((settlement) => gapOf(app, settlement))
    const written = await writeVerdicts(tx, settlements, gaps)
    const again = written.flatMap((row) => (row.nextAttemptAt ? [deliverRequest(row, row.nextAttemptAt)] : []))
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

interface Written {
  id: string
  endpointId: string
  nextAttemptAt: Date | null
}

async function writeVerdicts(tx: Sql, settlements: readonly Settlement[], gaps: readonly (number | null)[]): Promise<Written[]> {
  const { rows } = await tx.query<Written>({
    name: 'webhooks.settle',
    text: `update webhook_deliveries d set
        status = (case when s.delivered then 'delivered' when s.goes_on then 'retrying' else 'failed' end)::delivery_status,
        "responseCode" = s.code, error = s.error,
        "deliveredAt" = case when s.delivered then clock_timestamp() else d."deliveredAt" end,
        "attemptsLeft" = case when s.goes_on then d."attemptsLeft" else 0 end,
        "nextAttemptAt" = case when s.goes_on then clock_timestamp() + s.gap * interval '1 millisecond' end,
        "leaseToken" = null, "leaseUntil" = null
      from (
        select u.*, u.gap is not null and e."disabledAt" is null and e."deletedAt" is null as goes_on
        from unnest($1::uuid[], $2::uuid[], $3::int[], $4::uuid[], $5::bool[], $6::int[], $7::text[], $8::float8[])
          as u(id, endpoint, attempt, token, delivered, code, error, gap)
        join webhook_endpoints e on e.id = u.endpoint
      ) s
      where d.id = s.id and d."leaseToken" = s.token and d.attempts = s.attempt
      returning d.id, d."endpointId", d."nextAttemptAt"`,
    values: [
      settlements.map(({ delivery }) => delivery.id),
      settlements.map(({ delivery }) => delivery.endpointId),
      settlements.map(({ delivery }) => delivery.attempt),
      settlements.map(({ token }) => token),
      settlements.map(({ verdict }) => verdict.delivered),
      settlements.map(({ verdict }) => verdict.responseCode),
      settlements.map(({ verdict }) => verdict.error),
      gaps,
    ],
  })
  return rows
}

interface EndpointRow {
  id: string
  failingSince: Date | null
  failedEvents: number
  disabledReason: string | null
  now: Date
}

/** Updates the health of endpoints. The common case, a healthy endpoint with successes only, writes nothing. */
async function noteHealth(app: App, tx: Sql, settlements: readonly Settlement[]): Promise<void> {
  const news = newsOf(settlements)
  if (news.size === 0) return
  const { rows } = await tx.query<EndpointRow>(
    `select id, "failingSince", "failedEvents", "disabledReason", now() as now from webhook_endpoints
     where id = any($1::uuid[]) order by id for no key update`,
    [[...news.keys()]],
  )
  for (const row of rows) {
    const after = healthAfter(row, news.get(row.id) as News, row.now)
    await tx.query(
      `update webhook_endpoints set "failingSince" = $2, "failedEvents" = $3, "disabledReason" = $4,
         "disabledAt" = case when $4::text is null then null else coalesce("disabledAt", now()) end
       where id = $1`,
      [row.id, after.failingSince, after.failedEvents, after.disabledReason],
    )
    if (!after.disabledReason || row.disabledReason) continue
    app.log.warn({ endpointId: row.id, reason: after.disabledReason }, 'webhook endpoint disabled')
    await cancelDeliveries(tx, row.id, 'endpoint_disabled')
  }
}

/** The outcomes that affect health, by endpoint. An attempt that this process aborted or could not sign says nothing about the receiver. */
function newsOf(settlements: readonly Settlement[]): Map<string, News> {
  const all = new Map<string, News>()
  for (const { delivery, verdict } of settlements) {
    if (verdict.error === 'interrupted' || verdict.error === 'secret_unreadable' || (verdict.delivered && !delivery.failing))
      continue
    const news = all.get(delivery.endpointId) ?? { anyDelivered: false, failedEvents: 0, gone: false }
    if (verdict.delivered) news.anyDelivered = true
    else if (delivery.attempt === 1) news.failedEvents++
    if (verdict.gone) news.gone = true
    all.set(delivery.endpointId, news)
  }
  return all
}

/** Maximum number of deliveries that one statement ends. */
export const endedAtOnce = 2_000

/**
 * Cancels the pending deliveries of an endpoint that is disabled or deleted: at most {@link endedAtOnce} of them, and the sweep cancels
 * the rest. An attempt in progress runs to its own end.
 */
export async function cancelDeliveries(
  tx: Sql,
  endpointId: string,
  reason: 'endpoint_disabled' | 'endpoint_deleted',
): Promise<void> {
  await tx.query(
    `update webhook_deliveries set status = 'failed', error = $2, "attemptsLeft" = 0, "byHand" = false, "nextAttemptAt" = null,
       "leaseToken" = null, "leaseUntil" = null
     where id in (
       select id from webhook_deliveries where "endpointId" = $1 and "nextAttemptAt" is not null
         and ("leaseUntil" is null or "leaseUntil" <= now()) order by "nextAttemptAt" limit $3 for update
     )`,
    [endpointId, reason, endedAtOnce],
  )
}
