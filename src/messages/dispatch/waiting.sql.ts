// SQL of waiting messages. They wait until their instance connects (deferred: `heldBy` is null), or under a key (held: `heldBy`). `waitingSince`
// is null while a message does not wait; `heldBy` then says nothing.
import type { Sql } from '../../core/database/database.ts'
import type { Dispatchable } from './dispatch-job.ts'

/** Defers messages. The caller holds their row locks. */
export async function markDeferred(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query(
    'update messages set "waitingSince" = coalesce("waitingSince", now()), "heldBy" = null where id = any($1::uuid[])',
    [ids],
  )
}

/** Holds messages under their keys. The caller holds their row locks. */
export async function markHeld(tx: Sql, messages: readonly { id: string; key: string }[]): Promise<void> {
  await tx.query(
    `update messages m set "waitingSince" = coalesce(m."waitingSince", now()), "heldBy" = u.key, "nextAttemptAt" = null
     from unnest($1::uuid[], $2::text[]) as u(id, key) where m.id = u.id`,
    [messages.map(({ id }) => id), messages.map(({ key }) => key)],
  )
}

/** Ends the wait of held messages, because they have a dispatch job. The caller holds their row locks. */
export async function endHeld(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query('update messages set "waitingSince" = null, "heldBy" = null where id = any($1::uuid[])', [ids])
}

/** Ids of the waiting messages of an instance that are due first, without a lock. */
export async function readWaiting(tx: Sql, instanceId: string, limit: number): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from messages where "instanceId" = $1 and "waitingSince" is not null and status in ('queued', 'sending')
       and "acceptedAt" is null and direction = 'outbound' order by "dueAt", id limit $2`,
    [instanceId, limit],
  )
  return rows.map(({ id }) => id)
}

/**
 * Ends the wait of messages. Returns those that still waited. Skips locked rows: a claim that holds one waits for the lock of the instance,
 * which the caller holds.
 */
export async function endWaiting(tx: Sql, ids: readonly string[]): Promise<Dispatchable[]> {
  const { rows } = await tx.query<Dispatchable>(
    `with locked as (select id from messages where id = any($1) and "waitingSince" is not null order by id for update skip locked)
     update messages m set "waitingSince" = null, "heldBy" = null from locked where m.id = locked.id returning m.id, m."scheduledAt", m."campaignId"`,
    [ids],
  )
  return rows
}
