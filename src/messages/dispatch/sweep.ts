// Sweeps every minute for messages that expired, and for messages and keys that lost their job.
import { returnQuota } from '../../billing/admission/quota.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { scheduleJob } from '../../core/jobs/jobs.ts'
import { dispatchRequest, enqueueDispatch, largeBulk } from './dispatch-job.ts'
import { failMessages } from './fail.ts'
import { holdJob, planCheck } from './hold-job.ts'
import { deleteEnded, readKeysWithoutJob } from './holds.sql.ts'
import { endOf } from './policy.ts'
import { lockExpired, readWithoutJob } from './sweep.sql.ts'

const definition = {
  name: 'message.sweep',
  cron: '* * * * *',
  options: { policy: 'exclusive', retryLimit: 0, deleteAfterSeconds: 60 },
}

/**
 * Runs every minute for messages that lost their job, for example after a restore from a backup. Fails messages older than their time to
 * live, and adds jobs for messages that are two minutes overdue and for keys under which messages wait.
 */
export const sweepImplementation = scheduleJob(definition, async (app) => {
  // Each step commits by itself: the first one holds usage rows, which every acceptance of their owners waits for.
  await sqlTransaction(app.pool, async (tx) => {
    const expired = await lockExpired(tx, app.config.messageTtlMs)
    const failed = await failMessages(
      tx,
      expired.map((message) => ({ id: message.id, error: endOf(message, 'EXPIRED') })),
    )
    await returnQuota(tx, failed)
  })
  app.signals.emit('outbox')
  await sqlTransaction(app.pool, async (tx) => {
    await deleteEnded(tx)
    for (const key of await readKeysWithoutJob(tx, holdJob.name)) await planCheck(app, tx, key)
  })
  await sqlTransaction(app.pool, async (tx) => {
    const lost = await readWithoutJob(tx)
    if (lost.length > 0) app.log.warn({ messages: lost.length }, 'messages without a job got one')
    await enqueueDispatch(
      app,
      tx,
      lost.map((row) => dispatchRequest(row, undefined, lost.length > largeBulk)),
    )
  })
})
