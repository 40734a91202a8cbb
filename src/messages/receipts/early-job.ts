// Keeps receipts that came before their message was known, and adds the jobs that apply them again.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { defineJob, enqueue } from '../../core/jobs/jobs.ts'
import type { Receipt } from '../../providers/reports.ts'
import { type EarlyReceipt, insertEarly, type Trial, withoutJob } from './early.sql.ts'

export const earlyJob = defineJob({
  name: 'receipts.early',
  schema: z.object({ instanceId: z.string() }),
  options: { retryLimit: 1000, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/**
 * Usually one job for each instance and time, however many receipts are due then. A job that waits serves these receipts too: it is locked, so
 * that it cannot start before `tx` commits. An id that names the instance and the time would lose receipts whose transaction commits after
 * that job has run.
 */
export async function enqueueTrials(app: Pick<App, 'boss'>, tx: Sql, trials: readonly Trial[]): Promise<void> {
  const requests = (await withoutJob(tx, earlyJob.name, trials)).map(({ instanceId, nextAt }) => ({
    data: { instanceId },
    startAfter: nextAt,
  }))
  await enqueue(app, tx, earlyJob, requests)
}

/** Keeps the receipts that have an id of the network, by which their message may become known. */
export async function keepEarly(app: Pick<App, 'boss'>, tx: Sql, receipts: readonly Receipt[]): Promise<void> {
  const early = receipts.filter((receipt): receipt is EarlyReceipt => receipt.providerMessageId !== undefined)
  if (early.length > 0) await enqueueTrials(app, tx, await insertEarly(tx, early))
}
