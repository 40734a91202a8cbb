// SQL on pg-boss' own table: the indexes and statements that wake workers in time without polling every queue.
import type { Sql } from '../database/database.ts'

interface Sessions {
  executeSql: (text: string) => Promise<{ rows: unknown[] }>
}

/**
 * Settings of the sessions of pg-boss. Its statements touch few jobs of a queue, by indexes. The statistics of a table that is empty most of the time
 * would make the planner join with the whole table when a burst comes; autoanalyze cannot know the next minute.
 */
export const byIndexes = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off'

/**
 * Indexes the jobs that start later than they were added, and those in progress. Both are few. The table belongs to pg-boss, which creates it
 * before this runs.
 */
export async function indexJobs(sql: Sql): Promise<void> {
  // One transaction. The lock lets processes that start together wait for each other, because `if not exists` does not.
  await sql.query(
    `select pg_advisory_xact_lock(hashtextextended('gateway job indexes', 0));
     create index if not exists gateway_job_delayed_idx on pgboss.job_common (start_after)
       where state < 'active' and start_after > created_on;
     create index if not exists gateway_job_active_idx on pgboss.job_common (heartbeat_on) where state = 'active'`,
  )
}

/** Finds the queues with delayed jobs that are due, and tells if a job in progress has lost its worker. One statement. */
export async function readDue(sessions: Sessions): Promise<{ queues: string[]; lapsed: boolean }> {
  const { rows } = await sessions.executeSql(
    `select array(select distinct name from pgboss.job_common
         where state < 'active' and start_after > created_on and start_after <= now()) as queues,
       exists (select from pgboss.job_common where state = 'active'
         and (heartbeat_on + heartbeat_seconds * interval '1 second' < now() or started_on + expire_seconds * interval '1 second' < now())) as lapsed`,
  )
  return rows[0] as { queues: string[]; lapsed: boolean }
}
