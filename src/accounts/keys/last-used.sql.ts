// SQL of when keys were last used.
import type { Sql } from '../../core/database/database.ts'

/**
 * Stores the times at which keys were used. Rows are locked in the order of their ids, which prevents deadlocks between processes. The
 * later of two times wins.
 */
export async function storeLastUse(sql: Sql, uses: readonly (readonly [keyId: string, at: Date])[]): Promise<void> {
  await sql.query(
    `with held as (
       select k.id, u.at from api_keys k join unnest($1::uuid[], $2::timestamptz[]) as u(id, at) on u.id = k.id
       order by k.id for no key update of k
     )
     update api_keys k set "lastUsedAt" = greatest(k."lastUsedAt", held.at) from held where held.id = k.id`,
    [uses.map(([id]) => id), uses.map(([, at]) => at)],
  )
}
