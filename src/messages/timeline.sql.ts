// SQL of what keeps messages from leaving.
import type { Sql } from '../core/database/database.ts'
import { isFollowerSql } from './dispatch/lines.sql.ts'
import type { WaitingRow } from './timeline.ts'

/** The messages among these that are queued or sending, each with all that may keep it. */
export async function readWaits(sql: Sql, ids: readonly string[]): Promise<(WaitingRow & { id: string })[]> {
  const { rows } = await sql.query<WaitingRow & { id: string }>({
    name: 'messages.waits',
    text: `select m.id, m."dueAt", m."nextAttemptAt", m."leaseUntil", m."handedAt" is not null as handed, m."acceptedAt" is not null as accepted,
        i.status = 'connected' as "instanceConnected", case when m."waitingSince" is not null then m."heldBy" end as "heldBy", h.until as "holdUntil",
        ${isFollowerSql} as blocked, now() as now
      from messages m join instances i on i.id = m."instanceId"
      left join send_holds h on m."waitingSince" is not null and h.key = m."heldBy" and h.until > now()
      where m.id = any($1::uuid[]) and m.direction = 'outbound' and m.status in ('queued', 'sending')`,
    values: [ids],
  })
  return rows
}
