// SQL of what the messages of an instance tell about the numbers that they went to or came from.
import type { Sql } from '../../core/database/database.ts'
import { unindexed } from '../../core/database/unindexed.ts'

export interface Signs {
  peer: string
  /** When the number last wrote, or got a message. */
  reached: Date | null
  /** When the network last said that it does not know the number. */
  missed: Date | null
}

/** Numbers without any sign are left out (index workspaceId, peer, createdAt). */
export async function readSignsOfLife(
  sql: Sql,
  instance: { id: string; workspaceId: string },
  numbers: readonly string[],
): Promise<Signs[]> {
  const { rows } = await sql.query<Signs>(
    `select a.peer, s.reached, s.missed from unnest($1::uuid[], $3::text[]) as a(workspace, peer), lateral (
       select max(case when direction = 'inbound' then "createdAt" else coalesce("readAt", "deliveredAt") end) as reached,
         max("failedAt") filter (where error = 'RECIPIENT_NOT_FOUND') as missed
       from messages where "workspaceId" = a.workspace and peer = a.peer and ${unindexed('"instanceId" = $2')}
     ) s where s.reached is not null or s.missed is not null`,
    [numbers.map(() => instance.workspaceId), instance.id, numbers],
  )
  return rows
}
