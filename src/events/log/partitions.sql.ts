// SQL of the partitions of the event log. Each one takes the numbers from the one in its name on.
import type { Sql } from '../../core/database/database.ts'

export interface Partition {
  name: string
  /** The first number above its range. */
  to: bigint
}

/** The partitions, lowest first (catalog). */
export async function readPartitions(sql: Sql): Promise<Partition[]> {
  const { rows } = await sql.query<{ name: string; to: string }>(
    `select relname as name, substring(pg_get_expr(relpartbound, oid) from $$TO \\('(\\d+)'\\)$$) as to
     from pg_class where oid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass)`,
  )
  return rows.map(({ name, to }) => ({ name, to: BigInt(to) })).sort((a, b) => (a.to < b.to ? -1 : 1))
}

/** The first event from that number on, with its age in seconds; undefined if there is none (primary key). */
export async function readFrom(sql: Sql, seq: bigint): Promise<{ seq: bigint; age: number } | undefined> {
  const { rows } = await sql.query<{ seq: string; age: string }>(
    'select seq, extract(epoch from now() - "createdAt") as age from events where seq >= $1 order by seq limit 1',
    [seq],
  )
  return rows[0] && { seq: BigInt(rows[0].seq), age: Number(rows[0].age) }
}

/**
 * Adds the partition for the numbers from `from` to below `to`, in one transaction. It fails if another process has just added it.
 * ATTACH PARTITION lets others read and write meanwhile, which CREATE TABLE ... PARTITION OF does not. It waits 200 ms at most for a
 * maintenance statement on the whole log.
 */
export async function addPartition(sql: Sql, from: bigint, to: bigint): Promise<void> {
  const name = `events_from_${from}`
  await sql.query(
    `set local lock_timeout = 200; create table ${name} (like events);
     alter table events attach partition ${name} for values from (${from}) to (${to})`,
  )
}

/** True if all numbers of the partition are given, and its newest event is older than `days` days, or it has none (primary key). */
export async function isExpired(sql: Sql, { name, to }: Partition, days: number): Promise<boolean> {
  const { rows } = await sql.query<{ expired: boolean }>(
    `select last >= $1 and coalesce(
       (select "createdAt" < now() - make_interval(days => $2) from ${name} order by seq desc limit 1), true) as expired
     from event_sequence where id = 1`,
    [to, days],
  )
  return rows[0]?.expired ?? false
}

/** Drops a partition under a lock on the whole log, which it awaits for a second at most. */
export async function dropPartition(sql: Sql, { name }: Partition): Promise<void> {
  await sql.query(`set local lock_timeout = 1000; drop table ${name}`)
}
