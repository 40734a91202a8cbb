// Sweeps every minute for campaigns that lost their job.
import { sqlTransaction } from '../core/database/transaction.ts'
import { scheduleJob } from '../core/jobs/jobs.ts'
import { enqueueStep } from './campaign-job.ts'
import { readWithoutJob } from './sweep.sql.ts'

const definition = {
  name: 'campaign.sweep',
  cron: '* * * * *',
  options: { policy: 'exclusive', retryLimit: 0, deleteAfterSeconds: 60 },
}

/** Enqueues a step of each campaign that has something to do but no job, for example after a restore from a backup. */
export const sweepImplementation = scheduleJob(definition, (app) =>
  sqlTransaction(app.pool, async (tx) => {
    for (const id of await readWithoutJob(tx)) await enqueueStep(app, tx, id)
  }),
)
