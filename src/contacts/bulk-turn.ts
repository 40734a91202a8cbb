// Whose turn it is with a bulk job: first come, first served, until the transaction ends.
import type { Sql } from '../core/database.ts'

/** Row locks are handed to anybody who comes at the right moment, so the job's own worker could keep a cancellation waiting for ever. */
export async function takeTurn(tx: Sql, jobId: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [jobId])
}
