// SQL of deliveries: the fan-out of events to endpoints, and reads for many endpoints or deliveries at once.
import type { Sql } from '../core/database/database.ts'
import type { DeliveryStatus, WebhookDelivery } from '../generated/prisma/client.ts'

/** The enabled endpoints of these workspaces, with the types of events that they subscribe to (index on the workspace). */
export async function readEnabled(
  tx: Sql,
  workspaceIds: readonly string[],
): Promise<{ id: string; workspaceId: string; events: string[] }[]> {
  const { rows } = await tx.query<{ id: string; workspaceId: string; events: string[] }>({
    name: 'webhooks.sink.find',
    text: `select id, "workspaceId", events from webhook_endpoints
      where "workspaceId" = any($1::uuid[]) and "disabledAt" is null and "deletedAt" is null`,
    values: [workspaceIds],
  })
  return rows
}

interface NewDelivery {
  id: string
  endpointId: string
  event: { seq: bigint; id: string; type: string }
}

/** Inserts deliveries that are due at once. A unique index on event and endpoint keeps an event from being delivered twice. */
export async function insertDeliveries(tx: Sql, deliveries: readonly NewDelivery[]): Promise<void> {
  await tx.query({
    name: 'webhooks.sink.insert',
    text: `insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, "nextAttemptAt")
        select u.id, u.endpoint, u.seq, u.event, u.type, clock_timestamp()
        from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::uuid[], $5::text[]) as u(id, endpoint, seq, event, type)`,
    values: [
      deliveries.map(({ id }) => id),
      deliveries.map(({ endpointId }) => endpointId),
      deliveries.map(({ event }) => event.seq),
      deliveries.map(({ event }) => event.id),
      deliveries.map(({ event }) => event.type),
    ],
  })
}

/** The first `take` deliveries of each endpoint, in one statement (index on endpoint, time and id). */
export async function readFirst(
  sql: Sql,
  endpointIds: readonly string[],
  { status, take, order }: { status: DeliveryStatus | null; take: number; order: 'asc' | 'desc' },
): Promise<WebhookDelivery[]> {
  const { rows } = await sql.query<WebhookDelivery>(
    `select d.* from unnest($1::uuid[]) as e(id) cross join lateral (
       select * from webhook_deliveries where "endpointId" = e.id and ($2::text is null or status::text = $2)
       order by "createdAt" ${order}, id ${order} limit $3
     ) d order by d."createdAt" ${order}, d.id ${order}`,
    [endpointIds, status, take],
  )
  return rows
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
