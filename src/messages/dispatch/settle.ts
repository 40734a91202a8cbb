// Settles send outcomes: writes them only while the lease of the attempt still holds (fencing token).
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { SendOutcome } from '../../providers/provider.ts'
import { retryDelayMs } from '../safety/policy.ts'
import type { ClaimedMessage } from './claim.ts'
import { dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import type { Failing } from './fail.sql.ts'
import { failMessages } from './fail.ts'
import { readLeased, releaseLeases, storeAccepted } from './settle.sql.ts'

export interface Settlement {
  message: ClaimedMessage
  outcome: SendOutcome
}

interface Retry {
  message: ClaimedMessage
  delayMs: number
  /** True if the attempt counts towards the limit of attempts. */
  counts: boolean
}

/** Commits outcomes in one transaction. Skips those whose lease was lost, and counts them in the `fencedWrites` metric. */
export async function settleAll(app: App, settlements: readonly Settlement[]): Promise<void> {
  const settled = await sqlTransaction(app.pool, async (tx) => {
    // A fixed lock order prevents deadlocks between two settlements.
    const list = [...settlements].sort((a, b) => (a.message.id < b.message.id ? -1 : 1))
    const failing: Failing[] = []
    const retries: Retry[] = []
    for (const { message, outcome } of list) {
      const { id, token, mayHaveLeft } = message
      if (outcome.outcome === 'refused') failing.push({ id, token, mayHaveLeft, error: outcome.error, detail: outcome.detail })
      if (outcome.outcome !== 'retry') continue
      const counts = !outcome.offline && !outcome.holds
      const delayMs = retryDelayMs(counts ? message.attempt : 1, outcome.afterMs)
      if (delayMs === null) failing.push({ id, token, mayHaveLeft, error: outcome.error, detail: outcome.detail })
      else retries.push({ message, delayMs, counts })
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
  return await storeAccepted(
    tx,
    accepted.map(({ message, outcome }) => ({ ...message, providerMessageId: outcome.providerMessageId })),
  )
}

/** Releases leases and adds jobs for the next attempt. */
async function release(app: App, tx: Sql, retries: readonly Retry[]): Promise<number> {
  if (retries.length === 0) return 0
  const released = await releaseLeases(
    tx,
    retries.map(({ message, delayMs, counts }) => ({ ...message, delayMs, counts })),
  )
  await enqueueDispatch(
    app,
    tx,
    released.map((row) => dispatchRequest(row, row.nextAttemptAt)),
  )
  return released.length
}

/** An unknown outcome keeps its lease. A job looks at the message again when the lease has expired. */
async function askLater(app: App, tx: Sql, list: readonly Settlement[]): Promise<void> {
  const unknown = list.filter(({ outcome }) => outcome.outcome === 'unknown').map(({ message }) => message.id)
  if (unknown.length === 0) return
  const leased = await readLeased(tx, unknown)
  await enqueueDispatch(
    app,
    tx,
    leased.map((row) => dispatchRequest(row, row.leaseUntil)),
  )
}
