// Whose turn it is with a bulk job: first come, first served, until the transaction ends.
import type { Sql } from '../../core/database/database.ts'

/** Row locks are handed to anybody who comes at the right moment, so the job's own worker could keep a cancellation waiting for ever. */
export async function takeTurn(tx: Sql, jobId: string, workspaceId: string | null = null): Promise<void> {
  // Whoever asks for a job of another workspace does not wait, which would tell that there is one.
  await tx.query(
    `select pg_advisory_xact_lock(hashtextextended(id::text, 0)) from bulk_jobs
     where id = $1 and ($2::uuid is null or "workspaceId" = $2)`,
    [jobId, workspaceId],
  )
}
