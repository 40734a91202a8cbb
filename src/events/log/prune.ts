// Deletes expired events in chunks.
import type { App } from '../../core/app.ts'
import { retentionDays } from './log.ts'

/** Deletes events older than {@link retentionDays}, in chunks. Returns the number deleted. Their deliveries are deleted with them. */
export async function pruneEvents(app: App, chunk = 2_000): Promise<number> {
  for (let pruned = 0; ; ) {
    // From the lowest number on, so that the events kept have no gaps.
    const { rowCount } = await app.pool.query(
      `delete from events where seq in (
         select seq from (select seq, "createdAt" from events order by seq limit $1) oldest
         where "createdAt" < now() - make_interval(days => $2))`,
      [chunk, retentionDays],
    )
    pruned += rowCount ?? 0
    if ((rowCount ?? 0) < chunk) return pruned
  }
}
