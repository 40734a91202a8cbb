// Settles send outcomes: writes them only while the lease of the attempt still holds (fencing token).
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { SendOutcome } from '../../providers/provider.ts'
import { retryDelayMs } from '../safety/policy.ts'
import type { ClaimedMessage } from './claim.ts'
import { type Dispatchable, dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { failMessages } from './fail.ts'

export interface Settlement {
  message: ClaimedMessage
  outcome: SendOutcome
}

/** Commits outcomes in one transaction. Skips those whose lease was lost, and counts them in the `fencedWrites` metric. */
export async function settleAll(app: App, settlements: readonly Settlement[]): Promise<void> {
  const settled = await sqlTransaction(app.pool, async (tx) => {
    // A fixed lock order prevents deadlocks between two settlements.
    const list = [...settlements].sort((a, b) => (a.message.id < b.message.id ? -1 : 1))
    const failing: { id: string; error: string; token: string }[] = []
    const retries: { message: ClaimedMessage; delayMs: number }[] = []
    for (const { message, outcome } of list) {
      const { id, token } = message
      if (outcome.outcome === 'refused') failing.push({ id, token, error: outcome.error })
      if (outcome.outcome !== 'retry') continue
      const delayMs = retryDelayMs(message.attempt, outcome.afterMs)
      if (delayMs === null) failing.push({ id, token, error: outcome.error })
      else retries.push({ message, delayMs })
    }
    const failed = await failMessages(tx, failing)
    const accepted = await accept(tx, list)
    const retried = await release(app, tx, retries)
    await askLater(app, tx, list)
    return failed.length + accepted + retried + list.filter(({ outcome }) => outcome.outcome === 'unknown').length
  })
  if (settled < settlements.length) app.metrics.fencedWrites.inc(settlements.length - settled)
  app.signals.emit('outbox')
}

async function accept(tx: Sql, list: readonly Settlement[]): Promise<number> {
  const accepted = list.flatMap(({ message, outcome }) => (outcome.outcome === 'accepted' ? [{ message, outcome }] : []))
  if (accepted.length === 0) return 0
  const { rowCount } = await tx.query({
    name: 'messages.settle.accept',
    text: `update messages m set "acceptedAt" = coalesce(m."acceptedAt", now()), "providerMessageId" = a.provider, "leaseToken" = null, "leaseUntil" = null
      from unnest($1::uuid[], $2::uuid[], $3::text[]) as a(id, token, provider) where m.id = a.id and m."leaseToken" = a.token`,
    values: [
      accepted.map(({ message }) => message.id),
      accepted.map(({ message }) => message.token),
      accepted.map(({ outcome }) => outcome.providerMessageId),
    ],
  })
  return rowCount ?? 0
}

/** Releases leases and adds jobs for the next attempt. */
async function release(app: App, tx: Sql, retries: readonly { message: ClaimedMessage; delayMs: number }[]): Promise<number> {
  if (retries.length === 0) return 0
  const { rows } = await tx.query<Dispatchable & { nextAttemptAt: Date }>(
    `update messages m set "leaseToken" = null, "leaseUntil" = null, "nextAttemptAt" = clock_timestamp() + r.ms * interval '1 millisecond'
     from unnest($1::uuid[], $2::uuid[], $3::float8[]) as r(id, token, ms)
     where m.id = r.id and m."leaseToken" = r.token and m.status = 'sending' and m."acceptedAt" is null
     returning m.id, m."scheduledAt", m."campaignId", m."nextAttemptAt"`,
    [
      retries.map(({ message }) => message.id),
      retries.map(({ message }) => message.token),
      retries.map(({ delayMs }) => delayMs),
    ],
  )
  await enqueueDispatch(
    app,
    tx,
    rows.map((row) => dispatchRequest(row, row.nextAttemptAt)),
  )
  return rows.length
}

/** An unknown outcome keeps its lease. A job looks at the message again when the lease has expired. */
async function askLater(app: App, tx: Sql, list: readonly Settlement[]): Promise<void> {
  const unknown = list.filter(({ outcome }) => outcome.outcome === 'unknown').map(({ message }) => message.id)
  if (unknown.length === 0) return
  const { rows } = await tx.query<Dispatchable & { leaseUntil: Date }>(
    `select id, "scheduledAt", "campaignId", "leaseUntil" from messages
     where id = any($1::uuid[]) and "leaseUntil" is not null and "acceptedAt" is null`,
    [unknown],
  )
  await enqueueDispatch(
    app,
    tx,
    rows.map((row) => dispatchRequest(row, row.leaseUntil)),
  )
}
