// SQL of deliveries: the fan-out of events to endpoints, and their payloads.
import type { Sql } from '../core/database/database.ts'
import { spareDays } from '../events/log/log.ts'

/** An endpoint with the types of events that it subscribes to. */
export interface Subscribed {
  id: string
  workspaceId: string
  events: string[]
}

/** The enabled endpoints of these workspaces (index on the workspace). */
export async function readEnabled(tx: Sql, workspaceIds: readonly string[]): Promise<Subscribed[]> {
  const { rows } = await tx.query<Subscribed>({
    name: 'webhooks.sink.find',
    text: `select id, "workspaceId", events from webhook_endpoints
      where "workspaceId" = any($1::uuid[]) and "disabledAt" is null and "deletedAt" is null`,
    values: [workspaceIds],
  })
  return rows
}

/** Those of the endpoints that are not deleted. */
export async function readSubscribed(tx: Sql, ids: readonly string[]): Promise<Subscribed[]> {
  const text = `select id, "workspaceId", events from webhook_endpoints where id = any($1::uuid[]) and "deletedAt" is null`
  return (await tx.query<Subscribed>(text, [ids])).rows
}

interface NewDelivery {
  id: string
  endpointId: string
  event: { seq: bigint; id: string; type: string; createdAt: Date }
}

/**
 * Inserts deliveries that are due at once. A unique index on event and endpoint keeps an event from being delivered twice. If an event
 * was numbered more than {@link spareDays} after it happened, `createdAt` is set back, so that the delivery expires before its payload.
 */
export async function insertDeliveries(tx: Sql, deliveries: readonly NewDelivery[]): Promise<void> {
  await tx.query({
    name: 'webhooks.sink.insert',
    text: `insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, "createdAt", "nextAttemptAt")
        select u.id, u.endpoint, u.seq, u.event, u.type, least(now(), u.created + make_interval(days => ${spareDays})), clock_timestamp()
        from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[], $6::timestamptz[]) as u(id, endpoint, seq, event, type, created)`,
    values: [
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ event }) => event.seq),
      deliveries.map(({ event }) => event.id),
      deliveries.map(({ event }) => event.type),
      deliveries.map(({ event }) => event.createdAt),
    ],
  })
}

/** True if an endpoint has a delivery of one of these events (unique index on event and endpoint). */
export async function hasDeliveries(
  tx: Sql,
  events: readonly { seq: bigint }[],
  endpointIds: readonly string[],
): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    'select exists (select from webhook_deliveries where "eventSeq" = any($1::bigint[]) and "endpointId" = any($2::uuid[])) as found',
    [events.map(({ seq }) => seq), endpointIds],
  )
  return rows[0]?.found ?? false
}

/** The payloads of deliveries: their own, or that of their event. */
export async function readPayloads(sql: Sql, ids: readonly string[]): Promise<{ id: string; payload: unknown }[]> {
  const { rows } = await sql.query<{ id: string; payload: unknown }>(
    `select d.id, coalesce(d.payload, v.payload) as payload from webhook_deliveries d left join events v on v.seq = d."eventSeq"
     where d.id = any($1::uuid[])`,
    [ids],
  )
  return rows
}

/** Deliveries with the message of their event, in place of a table. */
export const deliveriesOfMessages =
  '(select d.*, v."messageId" from webhook_deliveries d join events v on v.seq = d."eventSeq" where v."messageId" is not null)'

/** The messages of events, by the numbers of these as text (primary key). */
export async function readMessageIds(sql: Sql, seqs: readonly string[]): Promise<{ seq: string; messageId: string | null }[]> {
  const { rows } = await sql.query<{ seq: string; messageId: string | null }>(
    'select seq::text as seq, "messageId" from events where seq = any($1::bigint[])',
    [seqs],
  )
  return rows
}
