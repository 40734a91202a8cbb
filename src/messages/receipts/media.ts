// Fetches the files of inbound messages from their networks, and keeps them in the media store.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { codeOf } from '../../core/errors.ts'
import { implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { emit } from '../../events/log/emit.ts'
import { keepFile } from '../../media/keep.ts'
import type { FetchedMedia } from '../../providers/provider.ts'
import { providerOf } from '../../providers/providers.ts'
import { messageUpdated } from '../events.ts'
import { instanceOf } from '../instance-of.ts'
import { cut } from './inbound-bounds.ts'
import { type AwaitedFile, type NamedMessage, readAwaited, storeFile, storeReason } from './media.sql.ts'
import { fetchJob } from './media-job.ts'

/** For one file, from the first call to its last byte. */
const fetchMs = 60_000
const longestReason = 1_000
const notFetched = 'the file could not be fetched'

export const fetchImplementation: JobImplementation = implementJob(
  fetchJob,
  { batchSize: 1, workers: 6, mostWorkers: 60, perGroup: 2 },
  (app, jobs) => Promise.all(jobs.map(({ id }) => fetchFile(app, id))),
  (app, { id }) => giveUp(app, id, null),
)

/** Returns an Error if the file is to be fetched again later. */
async function fetchFile(app: App, id: string): Promise<Error | undefined> {
  const awaited = await readAwaited(app.pool, id)
  if (!awaited) return undefined
  const fetched = await keep(app, awaited)
  if (fetched.outcome === 'refused') await giveUp(app, id, fetched.detail)
  if (fetched.outcome !== 'retry') return undefined
  await storeReason(app.pool, id, cut(fetched.detail, longestReason), false)
  return new Error(fetched.detail)
}

type Kept = { outcome: 'kept' } | Exclude<FetchedMedia, { outcome: 'fetched' }>

async function keep(app: App, awaited: AwaitedFile): Promise<Kept> {
  const { id, provider, media } = awaited
  const network = providerOf(app, provider)
  // While an upgrade is under way, another process may know it.
  if (!network) return { outcome: 'retry', detail: notFetched }
  const { fetchMedia } = network
  if (!fetchMedia) return { outcome: 'refused', detail: 'the network gives no files' }
  try {
    const fetched = await fetchMedia(instanceOf(awaited), media, AbortSignal.timeout(fetchMs))
    if (fetched.outcome !== 'fetched') return fetched
    await keepFile(app, awaited, fetched.bytes, (tx, url) => attach(tx, awaited, url))
    app.signals.emit('outbox')
    return { outcome: 'kept' }
  } catch (error) {
    const { message } = error as Error
    const code = codeOf(error)
    if (code && code !== 'SERVICE_UNAVAILABLE') return { outcome: 'refused', detail: message }
    app.log.warn({ messageId: id, err: message }, 'the file of an inbound message could not be kept; trying again')
    return { outcome: 'retry', detail: notFetched }
  }
}

async function attach(tx: Sql, awaited: AwaitedFile, mediaUrl: string): Promise<boolean> {
  if (!(await storeFile(tx, awaited.id, mediaUrl))) return false
  await announce(tx, awaited, { mediaUrl, errorDetail: null })
  return true
}

/** Stores why the file is missing, or leaves the last reason, and tells it. */
async function giveUp(app: App, id: string, reason: string | null): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const stored = await storeReason(tx, id, reason && cut(reason, longestReason), true)
    if (stored) await announce(tx, stored, { mediaUrl: null, errorDetail: stored.reason })
  })
  app.signals.emit('outbox')
}

async function announce(
  tx: Sql,
  { id, workspaceId, instanceId, providerMessageId }: NamedMessage,
  changed: { mediaUrl: string | null; errorDetail: string | null },
): Promise<void> {
  const fields = { instanceId, messageId: id, providerMessageId, ...changed }
  await emit(tx, [messageUpdated.event(fields, { workspaceId, at: new Date() })])
}
