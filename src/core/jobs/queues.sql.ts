// SQL on pg-boss' own tables: figures that it does not offer, and dead jobs.
import type { Sql } from '../database/database.ts'

/** Name of the dead letter queue. */
export const deadQueue = 'job.dead'

/** Days for which it keeps jobs. */
export const deadDays = 14

/** How many jobs of each queue were dead-lettered in the last {@link deadDays} days. */
export async function countDead(sql: Sql): Promise<{ queue: string; n: number }[]> {
  const { rows } = await sql.query<{ queue: string; n: number }>(
    'select source_name as queue, count(*)::int as n from pgboss.job where name = $1 and source_name is not null group by 1 order by 1',
    [deadQueue],
  )
  return rows
}

/**
 * How many jobs of each queue are due, and for how many seconds the oldest has been, by the index that pg-boss fetches by: no scheduled job
 * is read. No job here is blocked by another one.
 */
export async function dueJobs(sql: Sql): Promise<{ queue: string; n: number; lag: number }[]> {
  const { rows } = await sql.query<{ queue: string; n: number; lag: number }>(
    `select q.name as queue, due.n, due.lag from pgboss.queue q cross join lateral (
       select count(*)::int as n, extract(epoch from now() - min(j.start_after))::float8 as lag from pgboss.job j
       where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now()
     ) due where due.n > 0`,
  )
  return rows
}

/** True if pg-boss has created its tables. */
export async function hasJobTables(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ found: string | null }>(`select to_regclass('pgboss.job')::text as found`)
  return rows[0]?.found != null
}

export interface QueueFigures {
  name: string
  due: number
  later: number
  active: number
  lagSeconds: number
  oldestAt: Date | null
  dead: number
}

/** Every queue with what waits in it and what died. */
export async function readQueues(sql: Sql): Promise<QueueFigures[]> {
  const { rows } = await sql.query<QueueFigures>(
    `select q.name, coalesce(j.due, 0) as due, coalesce(j.later, 0) as later, coalesce(j.active, 0) as active, coalesce(d.dead, 0) as dead,
       j.oldest as "oldestAt", greatest(0, coalesce(extract(epoch from now() - j.oldest), 0))::float8 as "lagSeconds"
     from pgboss.queue q
     left join (
       select name, count(*) filter (where state < 'active' and start_after <= now())::int as due,
         count(*) filter (where state < 'active' and start_after > now())::int as later, count(*) filter (where state = 'active')::int as active,
         min(start_after) filter (where state < 'active' and start_after <= now()) as oldest
       from pgboss.job where state <= 'active' group by name
     ) j on j.name = q.name
     left join (
       select source_name, count(*)::int as dead from pgboss.job where name = $1 group by source_name
     ) d on d.source_name = q.name
     order by q.name limit 100`,
    [deadQueue],
  )
  return rows.filter(({ name }) => name !== deadQueue)
}

export interface DeadJob {
  id: string
  queue: string
  tries: number
  reason: string | null
  data: unknown
  failedAt: Date
}

/** Most dead jobs that a list shows. */
export const mostDead = 50

/** The latest jobs that failed permanently; with `queue`, only those of that queue. */
export async function readDead(sql: Sql, queue: string | null): Promise<DeadJob[]> {
  const { rows } = await sql.query<DeadJob>(
    `select id, source_name as queue, coalesce(source_retry_count, 0) + 1 as tries,
       coalesce(source_output->>'error', source_output->>'message') as reason, data, created_on as "failedAt"
     from pgboss.job where name = $1 and source_name is not null and ($2::text is null or source_name = $2)
     order by created_on desc, id desc limit $3`,
    [deadQueue, queue, mostDead],
  )
  return rows
}

export interface TakenJob {
  queue: string
  data: object | null
  priority: number
  key: string | null
  group: string | null
}

/** Takes a job out of the dead letter queue, unless it is just being logged. Returns how it was added to its own queue. */
export async function takeDead(tx: Sql, id: string): Promise<TakenJob | undefined> {
  const { rows } = await tx.query<TakenJob>(
    `delete from pgboss.job where name = $1 and id = $2 and source_name is not null and state <> 'active'
     returning source_name as queue, data, priority, singleton_key as key, group_id as "group"`,
    [deadQueue, id],
  )
  return rows[0]
}

/** Lets jobs in progress fail for good when they fail. */
export async function endRetries(sql: Sql, queue: string, ids: readonly string[]): Promise<void> {
  await sql.query(
    `update pgboss.job set retry_limit = retry_count where name = $1 and id = any($2::uuid[]) and state = 'active'`,
    [queue, ids],
  )
}
