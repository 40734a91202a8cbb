// Erases the messages with one number, in both directions. Their files, their texts in the event log, the answers of webhook receivers to
// their events, and the results of the requests that made them are erased, too.
import { returnQuota } from '../../billing/admission/quota.ts'
import { readContactsByPhone } from '../../contacts/contacts.sql.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { forgetResults } from '../../core/idempotency/forget.ts'
import { enqueue, implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import type { Principal } from '../../core/principal.ts'
import { eraseEvents } from '../../events/log/erase.sql.ts'
import { deleteMessages } from '../retention/delete.ts'
import { clearFiles, removeUnused } from '../retention/files.ts'
import { readStored } from '../retention/retention.sql.ts'
import { type Asked, lockErased, postponeLeft, readErasedCampaigns, readTime } from './erase.sql.ts'
import { eraseJob } from './erase-job.ts'

/** Messages per transaction. */
const batchSize = 500
/** Batches of one number before others get their turn. */
const batchesPerTurn = 10

/** The fields of a stored result that tell a message (`peer`) from a contact (`custom`). */
interface Named {
  id?: string
  peer?: string
  phone?: string
  custom?: object
}

/** Implements `Hooks.eraseNumber`: a job erases the messages with the number right after the commit. */
export async function eraseNumber(
  app: App,
  tx: Sql,
  { workspaceId, ownerId }: Pick<Principal, 'workspaceId' | 'ownerId'>,
  phone: string,
): Promise<void> {
  const before = (await readTime(tx)).toISOString()
  await enqueueErasure(app, tx, { workspaceId, ownerId, phone, before })
}

/** One job of a payer runs at a time, so that many jobs, in as many workspaces as there are workers, delay no other payer. */
async function enqueueErasure(app: App, tx: Sql, job: Asked & { ownerId?: string }): Promise<void> {
  await enqueue(app, tx, eraseJob, [{ data: job, group: job.ownerId ?? job.workspaceId }])
}

export const eraseImplementation: JobImplementation = implementJob(
  eraseJob,
  { batchSize: 1, workers: 2, perGroup: 1 },
  (app, jobs) => Promise.all(jobs.map((job) => eraseAll(app, job))),
)

/**
 * Each batch commits by itself, so that another worker can continue. After {@link batchesPerTurn} a job behind those of others does the rest.
 * Returns an Error while a message is being sent.
 */
async function eraseAll(app: App, asked: Asked & { ownerId?: string }): Promise<Error | undefined> {
  await sqlTransaction(app.pool, (tx) => erasePlanned(app, tx, asked))
  for (let batches = 0; ; batches++) {
    if (app.stopping) return new Error('handed back')
    if (batches === batchesPerTurn) {
      await enqueueErasure(app, app.pool, asked)
      return undefined
    }
    const { erased, files } = await sqlTransaction(app.pool, (tx) => eraseBatch(app, tx, asked))
    await clearFiles(app, files)
    if (erased < batchSize) break
    await app.failpoint('erase.between_batches')
  }
  const left = await postponeLeft(app.pool, asked)
  // A campaign that was paused meanwhile may have taken a message back before it was erased.
  await sqlTransaction(app.pool, (tx) => erasePlanned(app, tx, asked))
  await forgetResults(app, asked.workspaceId, asked.phone, (records) => erasedOf(app, records, asked))
  return left > 0 ? new Error('a message with this number is being sent') : undefined
}

async function eraseBatch(app: App, tx: Sql, asked: Asked): Promise<{ erased: number; files: string[] }> {
  const campaignIds = await readErasedCampaigns(tx, asked, batchSize)
  await app.hooks.lockCampaigns(tx, campaignIds)
  const messages = await lockErased(tx, asked, campaignIds, batchSize)
  if (messages.length === 0) return { erased: 0, files: [] }
  const ids = messages.map(({ id }) => id)
  await app.hooks.keepRecipients(tx, messages)
  await eraseTraces(app, tx, ids)
  await deleteMessages(app, tx, ids)
  const urls = messages.map(({ mediaUrl }) => mediaUrl)
  const files = await removeUnused(app, tx, asked.workspaceId, urls)
  // Last, because every acceptance of these owners waits for the row locks.
  await returnQuota(tx, messages)
  return { erased: messages.length, files }
}

/** Cancels what campaigns would send to the number, and erases the traces of messages that one took back and has not sent again. */
async function erasePlanned(app: App, tx: Sql, { workspaceId, phone }: Asked): Promise<void> {
  await eraseTraces(app, tx, await app.hooks.eraseRecipients(app, tx, workspaceId, phone))
}

/** Erases the personal data of messages in the event log, and the answers of webhook receivers to their events. */
async function eraseTraces(app: App, tx: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await eraseEvents(tx, ids)
  await app.hooks.eraseAnswers(tx, ids)
}

/**
 * Those of the records that are a message or a contact with the number and are stored no more. A request from after the erasure was asked
 * for keeps its result, because it is answered with that record.
 */
async function erasedOf(app: App, records: readonly Named[], { workspaceId, phone }: Asked): Promise<object[]> {
  const ofNumber = records.filter((one) => one.peer === phone || (one.phone === phone && one.custom !== undefined))
  const [messages, contacts] = await Promise.all([
    readStored(
      app.pool,
      ofNumber.flatMap(({ id, peer }) => (id && peer ? [id] : [])),
    ),
    readContactsByPhone(app.pool, workspaceId, [phone]),
  ])
  const stored = new Set([...messages, ...contacts.map(({ id }) => id)])
  return ofNumber.filter(({ id }) => !stored.has(id as string))
}
