// Deletes the data of accounts that have ended, in batches that commit one by one, so that another process can go on.
import type { App } from './core/app.ts'
import { enqueue, implementJob, type JobImplementation } from './core/jobs/jobs.ts'
import { deleteBatch, type ExpiredRows } from './core/jobs/prune.sql.ts'
import { deleteUser, emptyEvents, readEnded, rowsOfInstances, rowsOfUser, rowsOfWorkspace } from './erase-account.sql.ts'
import { deleteSomeMedia } from './media/service.ts'
import { endedJob } from './teams/ended-job.ts'

const batchSize = 1_000
/** Batches of one account before others get their turn. */
const batchesPerTurn = 20

interface Turn {
  userId: string
  /** The number of the last event that was emptied, by workspace. */
  emptiedTo: Record<string, string>
}

export const eraseAccountImplementation: JobImplementation = implementJob(endedJob, { batchSize: 1, workers: 1 }, (app, jobs) =>
  Promise.all(jobs.map(({ userId, emptiedTo = {} }) => takeTurn(app, { userId, emptiedTo: { ...emptiedTo } }))),
)

/**
 * Returns an Error while the account has instances that are not closed yet, which the job of their workspaces closes, or devices that are still
 * to be removed.
 */
async function takeTurn(app: App, turn: Turn): Promise<Error | undefined> {
  let batches = 0
  for await (const step of eraseAccount(app, turn)) {
    if (step === 'open') return new Error('instances of the account are being closed')
    if (step === 'linked') return new Error('devices of the account are being removed from their network')
    if (app.stopping) return new Error('handed back')
    if (++batches < batchesPerTurn) continue
    // The new job runs after those of other accounts, which would otherwise wait for very much data.
    await enqueue(app, app.pool, endedJob, [{ data: turn }])
    return undefined
  }
  return undefined
}

/** Yields after each batch behind which there may be more. `turn` says at any time where to go on. */
async function* eraseAccount(app: App, turn: Turn): AsyncGenerator<'open' | 'linked' | 'batch'> {
  const ended = await readEnded(app.pool, turn.userId)
  for (const { id, open } of ended) {
    if (open > 0) yield 'open'
    for (const rows of rowsOfWorkspace(id)) yield* deleteAll(app, rows)
    // Behind its messages, whose receipts have made events until now.
    yield* emptyAll(app, turn, id)
  }
  // Behind all that does not need the store, which may be away.
  let fault: unknown
  for (const { id, linked } of ended) {
    try {
      while (!(await deleteSomeMedia(app, id))) yield 'batch'
    } catch (error) {
      fault ??= error
      continue
    }
    // The holder needs the session and the credentials of a device, while the network is away for a day at most.
    if (linked) yield 'linked'
    for (const rows of rowsOfInstances(id)) yield* deleteAll(app, rows)
  }
  if (fault) throw fault
  for (const rows of rowsOfUser(turn.userId)) yield* deleteAll(app, rows)
  await deleteUser(app.pool, turn.userId)
}

async function* emptyAll(app: App, { emptiedTo }: Turn, workspaceId: string): AsyncGenerator<'batch'> {
  for (;;) {
    const seq = await emptyEvents(app.pool, workspaceId, emptiedTo[workspaceId] ?? '0', batchSize)
    if (seq === null) return
    emptiedTo[workspaceId] = seq
    yield 'batch'
  }
}

async function* deleteAll(app: App, rows: ExpiredRows): AsyncGenerator<'batch'> {
  while ((await deleteBatch(app.pool, rows, batchSize)) === batchSize) {
    await app.failpoint('account.between_batches')
    yield 'batch'
  }
}
