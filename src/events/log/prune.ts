// Events past their time.
import type { App } from '../../core/app.ts'
import { retentionDays } from './log.ts'

/** Deletes events past their {@link retentionDays}, in chunks, and returns how many. Their deliveries go with them. */
export async function pruneEvents(app: App, chunk = 2_000): Promise<number> {
  for (let pruned = 0; ; ) {
    // From the lowest number on, so that what is kept has no holes.
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
