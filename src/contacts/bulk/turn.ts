// Serializes access to a bulk job, first come, first served, until the transaction ends (advisory lock).
import type { Sql } from '../../core/database/database.ts'

/** An advisory lock instead of a row lock, which any transaction can get at the right moment: the worker could starve a cancellation. */
export async function takeTurn(tx: Sql, jobId: string, workspaceId: string | null = null): Promise<void> {
  // A caller who asks for a job of another workspace does not wait. A wait would reveal that the job exists.
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended(id::text, 0)) from bulk_jobs
     where id = $1 and ($2::uuid is null or "workspaceId" = $2)`,
    [jobId, workspaceId],
  )
}
