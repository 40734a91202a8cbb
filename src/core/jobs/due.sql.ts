// SQL on pg-boss' own table: the indexes and statements that wake workers in time without polling every queue.
import type { Sql } from '../database/database.ts'

interface Sessions {
  executeSql: (text: string, values?: unknown[]) => Promise<{ rows: unknown[] }>
}

/** A job that is due for so long was not announced, or its notification was lost. */
const forgottenSeconds = 2

/**
 * Settings of the sessions of pg-boss. Its statements touch few jobs of a queue, by indexes. The statistics of a table that is empty most of the time
 * would make the planner join with the whole table when a burst comes; autoanalyze cannot know the next minute. For the same reason the fetches
 * are not prepared, though planning one takes 0.6 ms: with a plan from when the queue was empty, each read all of 20,000 jobs (0.9 s).
 */
export const byIndexes = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

/** The tables that {@link indexJobs} has not set up. */
const unset = `select oid::regclass as name from pg_class where oid in ('pgboss.job_common'::regclass, 'pgboss.queue'::regclass)
  and reloptions is null`

const isUnprepared = `select where exists (${unset}) or to_regclass('pgboss.gateway_job_delayed_idx') is null
  or to_regclass('pgboss.gateway_job_active_idx') is null or to_regclass('pgboss.gateway_job_key_idx') is null`

/**
 * Indexes the jobs that start later than they were added, those in progress, and those that wait under a key: without it, pg-boss reads all
 * jobs of the queue to find the one of a key (18 ms among 3,000 campaigns on a busy machine). All three are few. Lets the tables collect more
 * changes before they are vacuumed and analyzed than tables of a few rows usually may: the scheduled jobs of an idle gateway alone caused
 * that every minute, and the statistics of forty columns were most of its write-ahead log. The tables belong to pg-boss, which creates them
 * before this runs.
 */
export async function indexJobs(sql: Sql): Promise<void> {
  // `create index if not exists` locks out all writers of jobs before it looks, and waits for those at work: a process that started beside
  // a long transaction stopped all the others, and gave up after the lock timeout.
  if ((await sql.query(isUnprepared)).rowCount === 0) return
  // One transaction. The lock lets processes that start together wait for each other, because `if not exists` does not.
  await sql.query(
    `select pg_advisory_xact_lock(hashtextextended('gateway job indexes', 0));
     create index if not exists gateway_job_delayed_idx on pgboss.job_common (start_after)
       where state < 'active' and start_after > created_on;
     create index if not exists gateway_job_active_idx on pgboss.job_common (heartbeat_on) where state = 'active';
     create index if not exists gateway_job_key_idx on pgboss.job_common (name, singleton_key)
       where state < 'active' and singleton_key is not null;
     do $$ declare name regclass; begin
       for name in ${unset} loop
         execute format('alter table %s set (autovacuum_vacuum_threshold = 1000, autovacuum_analyze_threshold = 5000)', name);
       end loop;
     end $$`,
  )
}

/** `queues` have jobs to wake workers for. `waits` tells if a job waits for its time, `lapsed` if a job in progress has lost its worker. */
export interface Due {
  queues: string[]
  waits: boolean
  lapsed: boolean
}

/**
 * Finds the queues with delayed jobs that are due, and those of `queues` with any job that has been due for {@link forgottenSeconds}, by the
 * index that pg-boss fetches by. Checks active jobs only if asked: every job was active once, so during a long transaction the index keeps an
 * entry of each. One statement.
 */
export async function readDue(sessions: Sessions, queues: readonly string[], findsLapsed: boolean): Promise<Due> {
  const { rows } = await sessions.executeSql(
    `select array(select name from pgboss.job_common where state < 'active' and start_after > created_on and start_after <= now()
         union select name from unnest($1::text[]) as own (name) where exists (
           select from pgboss.job_common j where j.name = own.name and state < 'active' and not blocked
             and start_after <= now() - $2 * interval '1 second')) as queues,
       exists (select from pgboss.job_common where state < 'active' and start_after > created_on) as waits,
       $3::bool and exists (select from pgboss.job_common where state = 'active'
         and (heartbeat_on + heartbeat_seconds * interval '1 second' < now() or started_on + expire_seconds * interval '1 second' < now())) as lapsed`,
    [queues, forgottenSeconds, findsLapsed],
  )
  return rows[0] as Due
}

/**
 * Starts the jobs of a queue of policy `short` that wait under these keys for a later time (index on queue and key). Locks them in the order
 * of their ids.
 */
export async function startWaiting(tx: Sql, queue: string, keys: readonly string[]): Promise<void> {
  await tx.query(
    `with waiting as materialized (
       select name, id from pgboss.job_common where name = $1 and singleton_key = any($2::text[]) and state < 'active' and start_after > now()
       order by id for update
     )
     update pgboss.job_common j set start_after = now() from waiting w where j.name = w.name and j.id = w.id`,
    [queue, keys],
  )
}
