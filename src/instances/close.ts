// Closes the workspace of a deleted team: ends its webhooks, and deletes its instances as a user would. A job of its own deletes its media.
import type { App } from '../core/app.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { codeOf } from '../core/errors.ts'
import { enqueueUnder, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { clearJob } from '../media/clear-job.ts'
import { closedJob } from '../teams/closed-job.ts'
import { removeInstance } from './service.ts'

/** Deletes each instance in its own transaction, so that a retry continues with the remaining ones. */
export const closeImplementation: JobImplementation = implementJob(closedJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  const settled: (Error | undefined)[] = []
  for (const { workspaceId } of jobs) settled.push(await closeWorkspace(app, workspaceId))
  return settled
})

/** Returns the last error if an instance could not be deleted. An instance that cannot be logged out does not stop the others. */
async function closeWorkspace(app: App, workspaceId: string): Promise<Error | undefined> {
  // Webhooks end first, because a provider that is down may delay the rest for a day.
  await sqlTransaction(app.pool, async (tx) => {
    await app.hooks.deleteEndpoints(tx, workspaceId)
    // Very many files take hours, for which the next team would keep its webhooks and instances.
    await enqueueUnder(app, tx, clearJob, workspaceId, { data: { workspaceId } })
  })
  const where = { workspaceId, deletedAt: null }
  const instances = await app.db.instance.findMany({ where, select: { id: true }, orderBy: { id: 'asc' } })
  let fault: Error | undefined
  for (const { id } of instances) {
    try {
      await sqlTransaction(app.pool, (tx) => removeInstance(app, tx, workspaceId, id))
      app.signals.emit('outbox')
      await app.failpoint('teams.mid_close')
    } catch (error) {
      // A concurrent request has deleted it already.
      if (codeOf(error) === 'NOT_FOUND') continue
      app.log.warn({ instance: id, err: (error as Error).message }, 'an instance of a deleted team could not be deleted yet')
      fault = error as Error
    }
  }
  return fault
}
