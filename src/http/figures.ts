// Figures of /metrics that are read when they are asked for.
import { countMails } from '../accounts/mail/order.ts'
import type { App } from '../core/app.ts'
import { readOldestTransaction } from '../core/database/old-transactions.sql.ts'
import { countDead, dueJobs } from '../core/jobs/queues.sql.ts'
import { takeReport } from '../core/report.sql.ts'
import { countByStatus } from '../instances/instances.sql.ts'
import { countDisabled } from '../webhooks/endpoints.sql.ts'

/** The connections of this process. */
export function measurePools({ pool, quickPool, metrics }: App): void {
  for (const [name, { totalCount, idleCount, waitingCount }] of Object.entries({ main: pool, quick: quickPool })) {
    metrics.poolWaits.set({ pool: name }, waitingCount)
    metrics.poolConnections.set({ pool: name, state: 'idle' }, idleCount)
    metrics.poolConnections.set({ pool: name, state: 'busy' }, totalCount - idleCount)
  }
}

/**
 * The figures of the whole installation. Only the process that holds the report has them, so that a sum over all processes counts
 * nothing twice.
 */
export async function measureWhole({ pool, db, metrics, node }: App): Promise<void> {
  const { queueDepth, queueLagSeconds, deadJobs, instances, disabledEndpoints, waitingMails, oldestTransaction } = metrics
  const mine = await takeReport(pool, node)
  // Read first, so that it does not find the transactions of the statements below.
  const oldest = mine ? await readOldestTransaction(pool) : undefined
  const [due, dead, connected, disabled, mails] = mine
    ? await Promise.all([dueJobs(pool), countDead(pool), countByStatus(pool), countDisabled(pool), countMails(db)])
    : [[], [], [], [], undefined]
  for (const gauge of [queueDepth, queueLagSeconds, deadJobs, instances, disabledEndpoints, waitingMails]) gauge.reset()
  waitingMails.set(mails ?? 0)
  oldestTransaction.set(oldest?.seconds ?? 0)
  for (const { queue, n, lag } of due) {
    queueDepth.set({ queue }, n)
    queueLagSeconds.set({ queue }, Math.max(0, lag))
  }
  for (const { queue, n } of dead) deadJobs.set({ queue }, n)
  for (const { status, n } of connected) instances.set({ status }, n)
  for (const { reason, n } of disabled) disabledEndpoints.set({ reason }, n)
}
