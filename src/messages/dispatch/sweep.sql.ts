// SQL of messages that expired, or that lost their job.
import type { Sql } from '../../core/database/database.ts'
import { mayHaveLeft } from './claim.sql.ts'
import { type Dispatchable, dispatchQueues } from './dispatch-job.ts'

const open = `direction = 'outbound' and status in ('queued', 'sending') and "acceptedAt" is null`

/**
 * SQL: the ids of the open messages that were due `before`, from their index alone. Asked for the rows, the planner reads all stored messages
 * (1.5 s for 900,000), because the statistics of `dueAt` do not tell how few of those that were due are still open.
 */
const dueBefore = (before: string) => `array(select id from messages where ${open} and "dueAt" < ${before})`

/**
 * Locks messages that are older than their time to live and that nobody sends, and returns them. Skips locked rows, because another worker
 * may be sending these messages just in time.
 */
export async function lockExpired(tx: Sql, ttlMs: number): Promise<{ id: string; mayHaveLeft: boolean }[]> {
  const { rows } = await tx.query<{ id: string; mayHaveLeft: boolean }>(
    `select id, ${mayHaveLeft} as "mayHaveLeft" from messages m where id = any(${dueBefore(`now() - $1 * interval '1 millisecond'`)})
       and ${open} and ("leaseToken" is null or "waitingSince" is not null) order by id limit 5000
     for update skip locked`,
    [ttlMs],
  )
  return rows
}

/**
 * Messages that have been due for two minutes and have no job. While none is overdue, no job is read: with 1,000,000 scheduled messages that
 * saves 2.5 s of three processes in each minute.
 */
export async function readWithoutJob(tx: Sql): Promise<Dispatchable[]> {
  // Without table statistics, as after a restore, the planner would choose a nested loop and scan all jobs once per message.
  await tx.query('set local enable_nestloop = off')
  const { rows } = await tx.query<Dispatchable>(
    `with overdue as materialized (
       select id, "scheduledAt", "campaignId" from messages where id = any(${dueBefore(`now() - interval '2 minutes'`)})
         and ${open} and "waitingSince" is null and greatest("dueAt", "nextAttemptAt", "leaseUntil") < now() - interval '2 minutes'
     ), known as (
       select e.id from pgboss.job j
       cross join lateral jsonb_array_elements_text(
         case jsonb_typeof(j.data->'ids') when 'array' then j.data->'ids' else jsonb_build_array(j.data->'id') end
       ) as e(id)
       where j.name = any($1) and j.state < 'completed' and exists (select from overdue)
     ) select o.* from overdue o where not exists (select 1 from known k where k.id = o.id::text) order by o.id limit 5000`,
    [dispatchQueues],
  )
  return rows
}
