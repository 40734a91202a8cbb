// What follows the end of a team: nothing leaves its workspace any more, and each instance is deleted as anybody deletes one.
import type { App } from '../core/app.ts'
import { type Sql, transaction } from '../core/database/database.ts'
import { codeOf } from '../core/errors.ts'
import { implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { deleteAllMedia } from '../media/service.ts'
import { closedJob } from '../teams/closed-job.ts'
import { removeInstance } from './service.ts'

declare module '../core/app.ts' {
  interface App {
    /** Whoever is told of what happens in a workspace is told no more. */
    endReceivers: (tx: Sql, workspaceId: string) => Promise<void>
  }
}

/** Each instance in a transaction of its own, so that running it again goes on with those that are left. */
export const closeImplementation: JobImplementation = implementJob(closedJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  const settled: (Error | undefined)[] = []
  for (const { workspaceId } of jobs) settled.push(await closeWorkspace(app, workspaceId))
  return settled
})

/** Answers why not all of them are gone, if so: one that cannot be logged out does not keep the others. */
async function closeWorkspace(app: App, workspaceId: string): Promise<Error | undefined> {
  // First, as a provider that is down may keep the rest waiting for a day.
  await transaction(app.pool, (tx) => app.endReceivers(tx, workspaceId))
  const { rows } = await app.pool.query<{ id: string }>(
    'select id from instances where "workspaceId" = $1 and "deletedAt" is null order by id',
    [workspaceId],
  )
  let fault: Error | undefined
  for (const { id } of rows) {
    try {
      await transaction(app.pool, (tx) => removeInstance(app, tx, workspaceId, id))
      app.signals.emit('outbox')
      await app.failpoint('teams.mid_close')
    } catch (error) {
      // Somebody who was still at it deleted it first.
      if (codeOf(error) === 'NOT_FOUND') continue
      app.log.warn({ instance: id, err: (error as Error).message }, 'an instance of a deleted team could not be deleted yet')
      fault = error as Error
    }
  }
  await deleteAllMedia(app, workspaceId)
  return fault
}
