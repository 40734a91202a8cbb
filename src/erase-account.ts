// Deletes the data of accounts that have ended, in batches that commit one by one, so that another process can go on.
import type { App } from './core/app.ts'
import { implementJob, type JobImplementation } from './core/jobs/jobs.ts'
import { deleteBatch, type ExpiredRows } from './core/jobs/prune.sql.ts'
import { deleteUser, emptyEvents, readEnded, rowsOfUser, rowsOfWorkspace } from './erase-account.sql.ts'
import { deleteAllMedia } from './media/service.ts'
import { endedJob } from './teams/ended-job.ts'

const batchSize = 1_000

export const eraseAccountImplementation: JobImplementation = implementJob(endedJob, { batchSize: 1, workers: 1 }, (app, jobs) =>
  Promise.all(jobs.map(({ userId }) => eraseAccount(app, userId))),
)

/** Returns an Error while the account has instances that are not closed yet; the job of their workspaces closes them. */
async function eraseAccount(app: App, userId: string): Promise<Error | undefined> {
  for (const { id, open } of await readEnded(app.pool, userId)) {
    if (open > 0) return new Error('instances of the account are being closed')
    for (let last: string | null = '0'; last !== null; last = await emptyEvents(app.pool, id, last, batchSize)) {
      if (app.stopping) return handedBack()
    }
    await deleteAllMedia(app, id)
    for (const rows of rowsOfWorkspace(id)) if (!(await deleteAll(app, rows))) return handedBack()
  }
  for (const rows of rowsOfUser(userId)) if (!(await deleteAll(app, rows))) return handedBack()
  await deleteUser(app.pool, userId)
  return undefined
}

function handedBack(): Error {
  return new Error('handed back')
}

/** Returns false if the process has to stop before all are deleted. */
async function deleteAll(app: App, rows: ExpiredRows): Promise<boolean> {
  for (;;) {
    if ((await deleteBatch(app.pool, rows, batchSize)) < batchSize) return true
    await app.failpoint('account.between_batches')
    if (app.stopping) return false
  }
}
