// SQL of the lag of the relay.
import type { Sql } from '../../core/database/database.ts'

export interface OutboxLag {
  waiting: number
  lagSeconds: number
}

/** The committed events that have no number yet: counts the first 10,000 (primary key), and tells the age of the oldest. */
export async function readOutboxLag(sql: Sql): Promise<OutboxLag> {
  const { rows } = await sql.query<OutboxLag>(
    `select count(*)::int as waiting, greatest(0, coalesce(extract(epoch from clock_timestamp() - min("createdAt")), 0))::float8 as "lagSeconds"
     from (select "createdAt" from outbox order by position limit 10000) o`,
  )
  return rows[0] as OutboxLag
}
