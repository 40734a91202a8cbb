// Bulk operations on contacts: few contacts are processed at once, many by a job that can be followed and cancelled.
import type { Context } from '../../core/context.ts'
import type { Sql } from '../../core/database/database.ts'
import type { Tx } from '../../core/database/transaction.ts'
import { type ErrorCode, fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import { enqueue } from '../../core/jobs/jobs.ts'
import { announceChange, subject } from '../../events/live/follow.ts'
import type { BulkJob, BulkOperation, Prisma } from '../../generated/prisma/client.ts'
import { withFewMessages } from '../detach-messages.ts'
import { type Added, addMembers, deleteContacts, lockOwnGroup, type Removed, removeMembers } from '../groups/membership.ts'
import { deletePieces, lockNewJobs, markEnded, takeTurn } from './bulk.sql.ts'
import { bulkJob } from './bulk-job.ts'

/** From this number of ids on, a job does the work. */
const jobFrom = 100

/** A fault of one line of an imported file. The line of the titles is 1. */
export interface LineFault {
  line: number
  /** Name of the field, or `file` if the line cannot be read. */
  field: string
  message: string
}

/** `invalid` has the first faults. */
export interface ImportSummary {
  created: number
  updated: number
  skipped: number
  invalid: LineFault[]
}

/** Result of the job so far: `added` and `alreadyInGroup`, or `deleted`, or that of an import. */
export type BulkSummary =
  | { added: number; alreadyInGroup: number; notFound: number }
  | { deleted: number; notFound: number }
  | ImportSummary

/** A job as callers see it: without the ids and options, which only the worker reads. */
export type BulkJobRecord = Omit<BulkJob, 'contactIds' | 'options' | 'summary'> & { summary: BulkSummary }

/** The columns of a job that callers do not see. */
export const omit = { contactIds: true, options: true } as const

/** Either the result, or the job that will produce it. */
export type Bulk<Done> = { done: Done; job?: never } | { done?: never; job: BulkJobRecord }

/**
 * `contactIds` must be distinct, here and below.
 * @throws NOT_FOUND when the workspace has no such group, API_RATE_LIMIT_EXCEEDED when it has too many open jobs.
 */
export async function addGroupMembers(ctx: Context, groupId: string, contactIds: readonly string[]): Promise<Bulk<Added>> {
  const { workspaceId } = ctx.principal
  return await write(ctx, async (tx) => {
    if (contactIds.length < jobFrom) return { done: await addMembers(tx, workspaceId, groupId, contactIds) }
    // The caller learns at once that the group does not exist, and not from the job.
    await lockOwnGroup(tx, workspaceId, groupId)
    return { job: await startJob(ctx, tx, 'add_to_group', contactIds, groupId) }
  })
}

/**
 * Removes contacts from a group, at once whatever their number.
 * @throws NOT_FOUND when the workspace has no such group.
 */
export async function removeGroupMembers(ctx: Context, groupId: string, contactIds: readonly string[]): Promise<Removed> {
  return await write(ctx, (tx) => removeMembers(tx, ctx.principal.workspaceId, groupId, contactIds))
}

export interface Deleted {
  requested: number
  deleted: number
  /** The ids that do not exist, in the order of the request. */
  notFound: string[]
}

/**
 * Deletes contacts. {@link deleteContacts} says what stays.
 * @throws API_RATE_LIMIT_EXCEEDED when the workspace has too many open jobs.
 */
export async function bulkDeleteContacts(ctx: Context, contactIds: readonly string[]): Promise<Bulk<Deleted>> {
  const work = async (tx: Tx): Promise<Bulk<Deleted>> => {
    if (contactIds.length >= jobFrom) return { job: await startJob(ctx, tx, 'bulk_delete_contacts', contactIds) }
    const deleted = new Set(await deleteContacts(ctx.app, tx, ctx.principal.workspaceId, contactIds))
    const notFound = contactIds.filter((id) => !deleted.has(id))
    return { done: { requested: contactIds.length, deleted: deleted.size, notFound } }
  }
  return await withFewMessages(ctx.app, () => write(ctx, work))
}

const emptySummary: Record<BulkOperation, BulkSummary> = {
  add_to_group: { added: 0, alreadyInGroup: 0, notFound: 0 },
  bulk_delete_contacts: { deleted: 0, notFound: 0 },
  import_contacts: { created: 0, updated: 0, skipped: 0, invalid: [] },
}

/** An open job stores its ids, up to 10,000 of them. */
const maxOpenJobs = 100

/** @throws API_RATE_LIMIT_EXCEEDED when the workspace has {@link maxOpenJobs} open jobs (exact under concurrency). */
async function refuseTooMany(tx: Tx, workspaceId: string): Promise<void> {
  await lockNewJobs(tx, workspaceId)
  const count = await tx.db.bulkJob.count({ where: { workspaceId, completedAt: null } })
  if (count < maxOpenJobs) return
  fail('API_RATE_LIMIT_EXCEEDED', `At most ${maxOpenJobs} bulk jobs at the same time; wait until some have ended`)
}

async function startJob(
  ctx: Context,
  tx: Tx,
  operation: BulkOperation,
  contactIds: readonly string[],
  groupId: string | null = null,
): Promise<BulkJobRecord> {
  await refuseTooMany(tx, ctx.principal.workspaceId)
  return await addJob(ctx, tx, { operation, groupId, contactIds: [...contactIds], requestedCount: contactIds.length })
}

/** Adds a job, for the transaction that has checked that the workspace may have one more. */
export async function addJob(
  { app, principal }: Context,
  tx: Tx,
  fields: Pick<BulkJob, 'operation' | 'groupId' | 'contactIds' | 'requestedCount'> & { options?: Prisma.InputJsonObject },
): Promise<BulkJobRecord> {
  const { workspaceId, ownerId } = principal
  const id = newId()
  // The type of a JSON column takes objects with an index signature only.
  const summary = { ...emptySummary[fields.operation] } as Prisma.InputJsonObject
  const data = { ...fields, id, workspaceId, summary }
  const job = await tx.db.bulkJob.create({ data, omit })
  // One job of a payer runs at a time, so that many jobs, in as many workspaces as there are workers, delay no other payer.
  await enqueue(app, tx, bulkJob, [{ data: { id, ownerId }, group: ownerId }])
  return job as BulkJobRecord
}

/** Ends a job that has not ended: as `failed` with an error, otherwise as `done`. */
export async function endJob(tx: Sql, id: string, error: ErrorCode | null): Promise<void> {
  await markEnded(tx, id, error)
  await announceChange(tx, subject('bulkJob', id))
}

/**
 * Stops a job after the chunk in progress. The finished work stays.
 * @throws NOT_FOUND when the workspace has no such job, INVALID_STATE when it has ended.
 */
export async function cancelBulkJob(ctx: Context, id: string): Promise<BulkJobRecord> {
  const where = { id, workspaceId: ctx.principal.workspaceId }
  return await write(ctx, async (tx) => {
    await takeTurn(tx, id, where.workspaceId)
    const now = new Date()
    const [job] = await tx.db.bulkJob.updateManyAndReturn({
      where: { ...where, status: { in: ['pending', 'processing'] } },
      data: { status: 'cancelled', contactIds: [], completedAt: now, updatedAt: now },
      omit,
    })
    if (job) await deletePieces(tx, id)
    else {
      const ended = (await tx.db.bulkJob.findFirst({ where, omit })) ?? fail('NOT_FOUND', 'Bulk job not found')
      fail('INVALID_STATE', `The bulk job is ${ended.status}; only a job that has not ended can be cancelled`)
    }
    await announceChange(tx, subject('bulkJob', id))
    return job as BulkJobRecord
  })
}
