// SQL of conversations: the latest message of each number, and the messages that nobody has answered.
import type { Sql } from '../core/database/database.ts'
import { keyset, type Place } from '../core/graph/pagination.ts'

/** The latest message to or from a number. */
export interface Latest {
  id: string
  peer: string
  createdAt: Date
}

export interface LatestQuery {
  workspaceId: string
  place: Place
  take: number
}

/** The newest message of the number of `m`: one step in the index (workspaceId, peer, createdAt, id). */
const newestOf = (peer: string) => `cross join lateral (
    select id, "createdAt" from messages where "workspaceId" = $1 and peer = ${peer} order by "createdAt" desc, id desc limit 1
  ) newest`

/**
 * The conversations among the next `window` messages of the workspace in page order (index on workspace and time), or among all if
 * `window` is null. The statement ends with the page.
 */
export async function readAmongMessages(
  sql: Sql,
  { workspaceId, place, take }: LatestQuery,
  window: number | null,
): Promise<Latest[]> {
  const values: unknown[] = [workspaceId]
  const here = ['"workspaceId" = $1', ...keyset(place, '"createdAt"', 'id', values)].join(' and ')
  const { rows } = await sql.query<Latest>(
    `select m.id, m.peer, m."createdAt" from (
       select id, peer, "createdAt" from messages where ${here}
       order by "createdAt" ${place.order}, id ${place.order} ${window ? `limit ${window}` : ''}
     ) m ${newestOf('m.peer')} where newest.id = m.id
     order by m."createdAt" ${place.order}, m.id ${place.order} limit ${take}`,
    values,
  )
  return rows
}

/** The number of messages from the place on in page order, at most `most` (index on workspace and time). */
export async function countNext(sql: Sql, { workspaceId, place }: LatestQuery, most: number): Promise<number> {
  const values: unknown[] = [workspaceId]
  const here = ['"workspaceId" = $1', ...keyset(place, '"createdAt"', 'id', values)].join(' and ')
  const { rows } = await sql.query<{ n: number }>(
    `select count(*)::int as n from (select from messages where ${here} order by "createdAt" ${place.order}, id ${place.order} limit ${most}) m`,
    values,
  )
  return rows[0]?.n ?? 0
}

/**
 * The conversations of a workspace with fewer than `most` numbers; null if it has more. It jumps from number to number in the index
 * (workspaceId, peer, createdAt, id).
 */
export async function readAmongNumbers(
  sql: Sql,
  { workspaceId, place, take }: LatestQuery,
  most: number,
): Promise<Latest[] | null> {
  const values: unknown[] = [workspaceId]
  const here = ['true', ...keyset(place, 'newest."createdAt"', 'newest.id', values)].join(' and ')
  const { rows } = await sql.query<{ numbers: number | null } & (Latest | { id: null })>(
    `with recursive numbers as (
       (select peer, 1 as n from messages where "workspaceId" = $1 order by peer limit 1)
       union all
       select (select peer from messages where "workspaceId" = $1 and peer > numbers.peer order by peer limit 1), n + 1
       from numbers where numbers.peer is not null and n < ${most}
     )
     select c.numbers, page.* from (select max(n) as numbers from numbers where peer is not null) c left join (
       select newest.id, peer, newest."createdAt" from numbers ${newestOf('numbers.peer')} where peer is not null and ${here}
       order by newest."createdAt" ${place.order}, newest.id ${place.order} limit ${take}
     ) page on true order by page."createdAt" ${place.order}, page.id ${place.order}`,
    values,
  )
  if ((rows[0]?.numbers ?? 0) >= most) return null
  return rows.flatMap(({ numbers: _, ...row }) => (row.id === null ? [] : [row]))
}

/**
 * Counts, for each number, the messages received after the last answer, up to `most`: the newest rows of the index (workspaceId, peer,
 * createdAt, id). Messages of campaigns answer nothing, and neither do messages that never left.
 */
export async function countUnanswered(
  sql: Sql,
  workspaceId: string,
  peers: readonly string[],
  most: number,
): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ peer: string; count: number }>({
    name: 'messages.unanswered',
    text: `select p.peer, (
        select count(*)::int from (
          select direction, bool_or(direction = 'outbound' and "campaignId" is null and status not in ('failed', 'cancelled'))
            over (order by "createdAt" desc, id desc) as answered
          from (
            select direction, "campaignId", status, "createdAt", id from messages
            where "workspaceId" = $1 and peer = p.peer order by "createdAt" desc, id desc limit $3
          ) newest
        ) seen where direction = 'inbound' and not answered
      ) as count from unnest($2::text[]) as p(peer)`,
    values: [workspaceId, peers, most],
  })
  return new Map(rows.map(({ peer, count }) => [peer, count]))
}
