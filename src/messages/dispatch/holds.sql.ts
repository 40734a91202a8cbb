// SQL of holds, by which networks asked to wait, and of keys with their held messages.
import { arrayOf } from '../../core/database/array-parameter.ts'
import type { Sql } from '../../core/database/database.ts'
import { isFollowerSql } from './lines.sql.ts'

/** The holds among these keys that have not ended, with their ends. */
export async function readHolds(tx: Sql, keys: readonly string[]): Promise<Map<string, Date>> {
  const { rows } = await tx.query<{ key: string; until: Date }>({
    name: 'holds.read',
    text: `select key, until from send_holds where key = any(${arrayOf('$1', 'text')}) and until > now()`,
    values: [keys],
  })
  return new Map(rows.map(({ key, until }) => [key, until]))
}

/** Starts holds, or extends them. The keys are locked in their order, and differ. */
export async function storeHolds(tx: Sql, holds: readonly { key: string; ms: number }[]): Promise<void> {
  await tx.query(
    `insert into send_holds as h (key, until)
     select key, clock_timestamp() + ms * interval '1 millisecond' from unnest($1::text[], $2::float8[]) as u(key, ms) order by key
     on conflict (key) do update set until = greatest(h.until, excluded.until)`,
    [holds.map(({ key }) => key), holds.map(({ ms }) => ms)],
  )
}

/** Deletes holds that ended a minute ago. The keys are locked in their order, as {@link storeHolds} locks them. */
export async function deleteEnded(tx: Sql): Promise<void> {
  await tx.query(
    `with ended as materialized (select key from send_holds where until < now() - interval '1 minute' order by key for update)
     delete from send_holds h using ended where h.key = ended.key`,
  )
}

const held = `m."heldBy" is not null and m."waitingSince" is not null and m.status in ('queued', 'sending') and m."acceptedAt" is null`

/** Of held messages, instant ones leave first, then scheduled ones, and those of campaigns last. */
const rank = `(case when m."campaignId" is not null then 2 when m."scheduledAt" is not null then 1 else 0 end)`

/**
 * SQL: the held messages `m` under the key `$1`, with a condition, an order by due time and a limit for each rank. The index of held messages has
 * the rank before the time. PostgreSQL finds the first messages of one rank in it; to find the earliest of all ranks it would read all messages
 * of the key.
 */
function inEachRank(columns: string, rest: string): string {
  return `unnest(array[0, 1, 2]) as r(rank) cross join lateral (
    select ${columns} from messages m where ${held} and m."heldBy" = $1 and ${rank} = r.rank ${rest}) m`
}

type KeyState = { until: Date | null; oldest: Date | null; now: Date }

/** The end of the hold of a key, null without one, and when the first message that waits under it was due, null without messages. */
export async function readKey(sql: Sql, key: string): Promise<KeyState> {
  const { rows } = await sql.query<KeyState>({
    name: 'holds.key',
    text: `select (select until from send_holds where key = $1 and until > now()) as until,
        (select min(m."dueAt") from ${inEachRank('m."dueAt"', 'order by m."dueAt" limit 1')}) as oldest, now() as now`,
    values: [key],
  })
  return rows[0] as KeyState
}

/** Those of these keys under which messages wait, in their order. */
export async function readWaited(tx: Sql, keys: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ key: string }>({
    name: 'holds.waited',
    text: `select key from unnest($1::text[]) as u(key) where exists (select from messages m where ${held} and m."heldBy" = u.key) order by key`,
    values: [keys],
  })
  return rows.map(({ key }) => key)
}

/**
 * The messages to release first from a key: instant before scheduled before those of campaigns. A message behind another one to the same
 * recipient is left out, because it could not leave yet. `is not true` keeps the planner from a join of all held messages with all open ones,
 * which it takes for one row each.
 */
export async function readHeld(sql: Sql, key: string, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'holds.held',
    text: `select m.id from messages m where ${held} and m."heldBy" = $1 and ${isFollowerSql} is not true
      order by ${rank}, m."dueAt", m.id limit $2`,
    values: [key, limit],
  })
  return rows.map(({ id }) => id)
}

/** The messages under a key that are older than their time to live. */
export async function readOverdue(sql: Sql, key: string, ttlMs: number, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select m.id from ${inEachRank('m.id, m."dueAt"', `and m."dueAt" <= now() - $2 * interval '1 millisecond' order by m."dueAt" limit $3`)}
     order by m."dueAt" limit $3`,
    [key, ttlMs, limit],
  )
  return rows.map(({ id }) => id)
}

/**
 * The keys under which messages wait and no job of `queue`, at most 5,000. Skips from key to key along the index (loose index scan). Those
 * with a job are left as they are, so that they cost no write and none behind them is forgotten.
 */
export async function readKeysWithoutJob(tx: Sql, queue: string): Promise<string[]> {
  const { rows } = await tx.query<{ key: string }>(
    `with recursive keys as (
       (select m."heldBy" as key from messages m where ${held} order by m."heldBy" limit 1)
       union all
       select (select m."heldBy" from messages m where ${held} and m."heldBy" > keys.key order by m."heldBy" limit 1) from keys where keys.key is not null
     ) select key from keys where key is not null
       and not exists (select from pgboss.job j where j.name = $1 and j.state < 'active' and j.singleton_key = key) limit 5000`,
    [queue],
  )
  return rows.map(({ key }) => key)
}
