// SQL of bulk jobs: their advisory locks, and the chunks that the worker reads and reports.
import type { Sql } from '../../core/database/database.ts'
import type { ErrorCode } from '../../core/errors.ts'

/**
 * Serializes access to a bulk job, first come, first served, until the transaction ends. An advisory lock instead of a row lock, which any
 * transaction can get at the right moment: the worker could starve a cancellation.
 */
export async function takeTurn(tx: Sql, jobId: string, workspaceId: string | null = null): Promise<void> {
  // A caller who asks for a job of another workspace does not wait. A wait would reveal that the job exists.
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended(id::text, 0)) from bulk_jobs
     where id = $1 and ($2::uuid is null or "workspaceId" = $2)`,
    [jobId, workspaceId],
  )
}

/** Blocks other new jobs of the workspace until the transaction ends (advisory lock). */
export async function lockNewJobs(tx: Sql, workspaceId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('bulk jobs ' || $1, 0))`, [workspaceId])
}

export type Counts = Record<string, number>

export interface OpenJob {
  id: string
  workspaceId: string
  /** Null when contacts are deleted. */
  groupId: string | null
  requestedCount: number
  processedCount: number
  summary: Counts
  chunk: string[]
}

/** Locks a job that has not ended, and reads its next `size` contact ids. Relies on {@link takeTurn}. */
export async function lockChunk(tx: Sql, id: string, size: number): Promise<OpenJob | undefined> {
  const { rows } = await tx.query<OpenJob>(
    `select id, "workspaceId", "groupId", "requestedCount", "processedCount", summary,
       "contactIds"["processedCount" + 1 : "processedCount" + $2] as chunk
     from bulk_jobs where id = $1 and status in ('pending', 'processing') for update`,
    [id, size],
  )
  return rows[0]
}

/** Relies on the row lock of {@link lockChunk}. */
export async function saveProgress(tx: Sql, id: string, processedCount: number, summary: object): Promise<void> {
  await tx.query(
    `update bulk_jobs set status = 'processing', "processedCount" = $2, summary = $3, "updatedAt" = now() where id = $1`,
    [id, processedCount, summary],
  )
}

/** Reads the workspace of a bulk job, and if it imports a file; other jobs work on contact ids. Undefined if it was deleted. */
export async function readSubject(sql: Sql, id: string): Promise<{ workspaceId: string; isImport: boolean } | undefined> {
  const { rows } = await sql.query<{ workspaceId: string; isImport: boolean }>(
    `select "workspaceId", operation = 'import_contacts' as "isImport" from bulk_jobs where id = $1`,
    [id],
  )
  return rows[0]
}

/** Deletes the file of an import, which is not needed any more. */
export async function deletePieces(tx: Sql, id: string): Promise<void> {
  await tx.query('delete from import_pieces where "jobId" = $1', [id])
}

/** Ends a job that has not ended yet: as `failed` with an error, otherwise as `done`. Its contact ids and its file are not kept. */
export async function markEnded(tx: Sql, id: string, error: ErrorCode | null): Promise<void> {
  await deletePieces(tx, id)
  await tx.query(
    `update bulk_jobs set status = $2, error = $3, "contactIds" = '{}', "completedAt" = now(), "updatedAt" = now()
     where id = $1 and status in ('pending', 'processing')`,
    [id, error ? 'failed' : 'done', error],
  )
}
