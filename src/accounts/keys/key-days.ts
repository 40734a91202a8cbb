// The requests of keys, day by day.
import type { Context } from '../../core/context.ts'
import { loadFound } from '../../core/graph/load.ts'
import type { ExpiredRows } from '../../core/jobs/prune.sql.ts'
import { type KeyDay, readKeyDays, readRequests } from './key-use.sql.ts'

/** The last `last` days of a key, oldest first; of all keys of a request in one statement. */
export async function daysOfKey(ctx: Context, keyId: string, last: number): Promise<KeyDay[]> {
  return await loadFound(ctx, `days of keys ${last}`, keyId, [], async (ids) => {
    return Map.groupBy(await readKeyDays(ctx.app.pool, ids, last), (day) => day.keyId)
  })
}

/** The requests of all keys of the account on a day (`YYYY-MM-DD`, UTC); of all days of a request in one statement. */
export async function requestsOn(ctx: Context, day: string): Promise<number> {
  return await loadFound(ctx, 'requests of days', day, 0, async (days) => {
    const rows = await readRequests(ctx.app.pool, ctx.principal.ownerId, days)
    return new Map(rows.map((row) => [row.day, row.requests]))
  })
}

/** Days that are kept, as many as those of messages. */
const keptDays = 400

export const expiredKeyDays: ExpiredRows = {
  table: 'api_key_days',
  where: 'day < (now() - make_interval(days => $2))::date',
  values: [keptDays],
}
