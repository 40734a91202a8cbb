// SQL of the time in which a number may get any message, because it wrote to the instance lately.
import type { Sql } from '../../core/database/database.ts'

/**
 * The positions of those that did not write to the instance after `since` (index workspaceId, peer, createdAt). A message that came late
 * was written before it was stored.
 */
export async function lacksInbound(
  sql: Sql,
  asked: readonly { workspaceId: string; instanceId: string; peer: string; since: Date }[],
): Promise<Set<number>> {
  const { rows } = await sql.query<{ position: number }>({
    name: 'messages.lacks_inbound',
    text: `select position::int - 1 as position
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) with ordinality as a(workspace, instance, peer, since, position)
      where not exists (
        select from messages m where m."workspaceId" = a.workspace and m.peer = a.peer and m."createdAt" > a.since
          and m."instanceId" = a.instance and m.direction = 'inbound'
          and coalesce((m.content->>'writtenAt')::timestamptz, m."createdAt") > a.since
      )`,
    values: [
      asked.map(({ workspaceId }) => workspaceId),
      asked.map(({ instanceId }) => instanceId),
      asked.map(({ peer }) => peer),
      asked.map(({ since }) => since),
    ],
  })
  return new Set(rows.map(({ position }) => position))
}
