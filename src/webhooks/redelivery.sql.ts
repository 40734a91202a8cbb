// SQL of redeliveries: their row locks, and the chunks of deliveries that they make due.
import type { Sql } from '../core/database/database.ts'
import { unindexed } from '../core/database/unindexed.ts'
import { nilId } from '../core/id.ts'
import type { WebhookRedelivery } from '../generated/prisma/client.ts'

export interface OpenRedelivery extends WebhookRedelivery {
  /** Why the endpoint gets no deliveries; null if it does. */
  stopped: 'endpoint_disabled' | 'endpoint_deleted' | null
}

/**
 * Locks a redelivery that has not ended (FOR UPDATE), then its endpoint (FOR NO KEY UPDATE), so that the endpoint is not disabled
 * meanwhile.
 */
export async function lockRedelivery(tx: Sql, id: string): Promise<OpenRedelivery | undefined> {
  const open = `select * from webhook_redeliveries where id = $1 and status in ('pending', 'processing') for update`
  const redelivery = (await tx.query<WebhookRedelivery>(open, [id])).rows[0]
  if (!redelivery) return undefined
  const { rows } = await tx.query<Pick<OpenRedelivery, 'stopped'>>(
    `select case when "deletedAt" is not null then 'endpoint_deleted' when "disabledAt" is not null then 'endpoint_disabled' end as stopped
     from webhook_endpoints where id = $1 for no key update`,
    [redelivery.endpointId],
  )
  return { ...redelivery, stopped: rows[0]?.stopped ?? null }
}

type Selection = Pick<WebhookRedelivery, 'endpointId' | 'since' | 'createdAt' | 'of'>
type Reached = Pick<WebhookRedelivery, 'afterTime' | 'afterId'>

/** A redelivery that has not begun; no lock. */
export async function readPending(sql: Sql, id: string): Promise<(Selection & Reached) | undefined> {
  const { rows } = await sql.query<Selection & Reached>(
    `select "endpointId", since, "createdAt", "of", "afterTime", "afterId" from webhook_redeliveries where id = $1 and status = 'pending'`,
    [id],
  )
  return rows[0]
}

export interface Counted extends Scanned {
  /** Those that match. */
  matching: number
}

/** The next deliveries of an endpoint, in the order of their creation (index), and whether each matches; tests do not. See {@link scanOf}. */
const scanned = `scanned as materialized (
       select id, "createdAt", status = $6 and "eventSeq" is not null as matches from webhook_deliveries
       where "endpointId" = $1 and "createdAt" >= $2 and "createdAt" <= $3 and ("createdAt", id) > ($4, $5)
       order by "createdAt", id limit $7
     )`
const lastScanned = '(select "createdAt", id from scanned order by "createdAt" desc, id desc limit 1) last'

/** The values of `scanned`: it begins after the last delivery that was looked at, and looks at `size`. */
function scanOf({ endpointId, since, createdAt, of, afterTime, afterId }: Selection & Reached, size: number): unknown[] {
  return [endpointId, since, createdAt, afterTime ?? since, afterId ?? nilId, of, size]
}

/** Counts those that match among the next `size` deliveries. */
export async function countMatching(sql: Sql, selection: Selection & Reached, size: number): Promise<Counted> {
  const { rows } = await sql.query<Counted>(
    `with ${scanned}
     select (select count(*)::int from scanned) as scanned, (select count(*)::int from scanned where matches) as matching,
       last."createdAt" as "lastTime", last.id as "lastId"
     from (select 1) one left join ${lastScanned} on true`,
    scanOf(selection, size),
  )
  return rows[0] as Counted
}

/** The number of deliveries of an endpoint that are due and wait, `most` at most (index on endpoint and time of the next attempt). */
export async function countDue(tx: Sql, endpointId: string, most: number): Promise<number> {
  const { rows } = await tx.query<{ n: number }>(
    `select count(*)::int as n from (
       select from webhook_deliveries where "endpointId" = $1 and "nextAttemptAt" <= now() limit $2
     ) due`,
    [endpointId, most],
  )
  return rows[0]?.n ?? 0
}

interface Scanned {
  /** The number of deliveries that were looked at. */
  scanned: number
  /** The last of them; null if there was none. */
  lastTime: Date | null
  lastId: string | null
}

export interface Chunk extends Scanned {
  /** Those that were made due. */
  made: string[]
}

/**
 * Looks at the next `size` deliveries, and makes those due that match and have no attempt in progress. An attempt whose lease is over loses
 * it, so that its late outcome changes nothing.
 */
export async function makeChunkDue(tx: Sql, selection: Selection & Reached, size: number): Promise<Chunk> {
  const { rows } = await tx.query<Chunk>(
    `with ${scanned}, made as (
       update webhook_deliveries d set "byHand" = true, "nextAttemptAt" = now(), "leaseToken" = null, "leaseUntil" = null,
         status = case when d."attemptsLeft" > 0 then d.status else 'pending' end
       from scanned s where d.id = s.id and s.matches and ${unindexed('d.status = $6')} and (d."leaseUntil" is null or d."leaseUntil" <= now())
       returning d.id
     )
     select (select count(*)::int from scanned) as scanned, last."createdAt" as "lastTime", last.id as "lastId",
       array(select id from made) as made
     from (select 1) one left join ${lastScanned} on true`,
    scanOf(selection, size),
  )
  return rows[0] as Chunk
}

/** Stores how far a locked redelivery is. One that has made more deliveries due than were counted is about at least so many. */
export async function saveProgress(
  tx: Sql,
  { id, requestedCount, processedCount, afterTime, afterId }: WebhookRedelivery,
): Promise<void> {
  await tx.query(
    `update webhook_redeliveries set status = 'processing', "requestedCount" = greatest($2::int, $3), "processedCount" = $3, "afterTime" = $4, "afterId" = $5
     where id = $1`,
    [id, requestedCount, processedCount, afterTime, afterId],
  )
}

/** Ends a redelivery that has not ended: as `failed` with an error, otherwise as `done`. */
export async function endRedelivery(tx: Sql, id: string, error: string | null): Promise<void> {
  await tx.query(
    `update webhook_redeliveries set status = $2, error = $3, "completedAt" = now()
     where id = $1 and status in ('pending', 'processing')`,
    [id, error ? 'failed' : 'done', error],
  )
}

/** The latest redelivery of each endpoint that had one (index on endpoint and time). */
export async function readLatest(sql: Sql, endpointIds: readonly string[]): Promise<WebhookRedelivery[]> {
  const { rows } = await sql.query<WebhookRedelivery>(
    `select r.* from unnest($1::uuid[]) as e(id) cross join lateral (
       select * from webhook_redeliveries where "endpointId" = e.id order by "createdAt" desc limit 1
     ) r`,
    [endpointIds],
  )
  return rows
}
