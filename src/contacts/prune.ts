// Deletes expired bulk jobs in chunks.
import type { App } from '../core/app.ts'

/** How long a bulk job is kept after its end. */
export const keptForDays = 30

/** Deletes bulk jobs that ended longer ago than {@link keptForDays}, in chunks. Returns the number deleted. An unfinished one stays. */
export async function pruneBulkJobs(app: App, chunk = 2_000): Promise<number> {
  for (let pruned = 0; ; ) {
    const { rowCount } = await app.pool.query(
      `delete from bulk_jobs where id in (
         select id from bulk_jobs where "completedAt" < now() - make_interval(days => $2) limit $1)`,
      [chunk, keptForDays],
    )
    pruned += rowCount ?? 0
    if ((rowCount ?? 0) < chunk) return pruned
  }
}
