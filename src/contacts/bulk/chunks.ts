// Runs a bulk job chunk by chunk. Each chunk commits together with its progress, so that another worker can resume there.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { codeOf } from '../../core/errors.ts'
import { enqueue, implementJob } from '../../core/jobs/jobs.ts'
import { isTooSlow } from '../../core/public-failure.ts'
import { announceChange, subject } from '../../events/live/follow.ts'
import { ManyMessages, withFewMessages } from '../detach-messages.ts'
import { addMembers, deleteContacts } from '../groups/membership.ts'
import { workThroughImport } from '../import/work.ts'
import { type Counts, lockChunk, type OpenJob, readSubject, saveProgress, takeTurn } from './bulk.sql.ts'
import { bulkJob } from './bulk-job.ts'
import { endJob } from './service.ts'

/** Contacts per transaction: few enough that no other transaction waits long for it, and that a cancellation takes effect soon. */
const chunkSize = 500

export const bulkImplementation = implementJob(
  bulkJob,
  { batchSize: 1, workers: 4, perGroup: 1 },
  (app, jobs) => Promise.all(jobs.map(({ id, ownerId }) => workThrough(app, id, ownerId))),
  (app, { id }) => giveUp(app, id),
)

/** Returns an Error if another try has to go on. A stop is no failed try: another job takes the place of this one. */
async function workThrough(app: App, id: string, ownerId?: string): Promise<Error | undefined> {
  const about = await readSubject(app.pool, id)
  if (!about) return undefined
  const left = about.isImport ? await workThroughImport(app, id) : await workThroughIds(app, id)
  if (!left || !app.stopping) return left
  await enqueue(app, app.pool, bulkJob, [{ data: { id, ownerId }, group: ownerId ?? about.workspaceId }])
  return undefined
}

async function workThroughIds(app: App, id: string): Promise<Error | undefined> {
  for (let size = chunkSize; ; ) {
    if (app.stopping) return new Error('handed back')
    try {
      const hasEnded = await withFewMessages(app, () => sqlTransaction(app.pool, (tx) => doChunk(app, tx, id, size)))
      app.signals.emit('outbox')
      if (hasEnded) return undefined
    } catch (error) {
      if (error instanceof ManyMessages) return new Error('handed back')
      // A smaller chunk stays within the time limit.
      if (!isTooSlow(error) || size === 1) throw error
      size = Math.ceil(size / 5)
    }
  }
}

/** Processes the next chunk, in one transaction with the job's progress. Returns true when the job has ended. */
async function doChunk(app: App, tx: Sql, id: string, size: number): Promise<boolean> {
  // A second worker or a cancellation runs before the chunk or after it.
  await takeTurn(tx, id)
  const job = await lockChunk(tx, id, size)
  if (!job) return true
  let counts: Counts
  try {
    counts = await apply(app, tx, job)
  } catch (error) {
    const code = codeOf(error)
    if (!code) throw error
    await endJob(tx, id, code)
    return true
  }
  await app.failpoint('bulk.mid_chunk')
  const processed = job.processedCount + job.chunk.length
  const summary = Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, n + (job.summary[name] ?? 0)]))
  await saveProgress(tx, id, processed, summary)
  const hasEnded = processed >= job.requestedCount
  if (hasEnded) await endJob(tx, id, null)
  else await announceChange(tx, subject('bulkJob', id))
  return hasEnded
}

async function apply(app: App, tx: Sql, { workspaceId, groupId, chunk }: OpenJob): Promise<Counts> {
  if (groupId) return { ...(await addMembers(tx, workspaceId, groupId, chunk)) }
  const deleted = await deleteContacts(app, tx, workspaceId, chunk)
  return { deleted: deleted.length, notFound: chunk.length - deleted.length }
}

async function giveUp(app: App, id: string): Promise<void> {
  await sqlTransaction(app.pool, (tx) => endJob(tx, id, 'INTERNAL_ERROR'))
}
