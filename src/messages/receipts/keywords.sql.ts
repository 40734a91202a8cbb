// SQL of inbound keywords: when each was written, so that one that comes late does not undo a newer one.
import type { Sql } from '../../core/database/database.ts'

interface Keyword {
  id: string
  workspaceId: string
  /** The sender. */
  from: string
  /** When it was written, by the clock of the network. */
  at: Date
}

/**
 * Lets one transaction at a time handle keywords of one sender, until its commit: two would not see each other's. Takes the advisory locks in one
 * order.
 */
export async function lockKeywords(tx: Sql, keywords: readonly Keyword[]): Promise<void> {
  await tx.query({
    name: 'inbound.lockKeywords',
    text: `select pg_advisory_xact_lock(key) from (
        select distinct hashtextextended('keyword ' || workspace || ' ' || sender, 0) as key
        from unnest($1::text[], $2::text[]) as u(workspace, sender) order by 1
      ) as k`,
    values: [keywords.map(({ workspaceId }) => workspaceId), keywords.map(({ from }) => from)],
  })
}

/** Stores in keyword messages the time at which they were written. */
export async function storeKeywords(tx: Sql, keywords: readonly Keyword[]): Promise<void> {
  await tx.query({
    name: 'inbound.keywords',
    text: `update messages m set content = m.content || jsonb_build_object('keywordAt', u.at)
      from unnest($1::uuid[], $2::timestamptz[]) as u(id, at) where m.id = u.id`,
    values: [keywords.map(({ id }) => id), keywords.map(({ at }) => at)],
  })
}

/**
 * The ids of keywords that are older than another keyword of the same sender (index workspaceId, peer, createdAt). A message is stored after it
 * was written, but the clock of the network may be ahead of ours.
 */
export async function readOutdated(sql: Sql, keywords: readonly Keyword[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'inbound.outdated',
    text: `select u.id from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) as u(id, workspace, sender, at)
      where exists (
        select from messages m where m."workspaceId" = u.workspace and m.peer = u.sender and m."createdAt" > u.at - interval '1 minute'
          and m.direction = 'inbound' and (m.content->>'keywordAt')::timestamptz > u.at
      )`,
    values: [
      keywords.map(({ id }) => id),
      keywords.map(({ workspaceId }) => workspaceId),
      keywords.map(({ from }) => from),
      keywords.map(({ at }) => at),
    ],
  })
  return new Set(rows.map(({ id }) => id))
}
