// SQL of instances for the messages that they send.
import { arrayOf } from '../core/database/array-parameter.ts'
import type { Sql } from '../core/database/database.ts'
import type { Instance } from '../generated/prisma/client.ts'

/**
 * The part of an instance that new messages need. `disconnections` are the latest 100 of the last 24 hours; `holder` is the process that
 * holds its connection, if it has one.
 */
export type SendingInstance = { holder: string | null } & Pick<
  Instance,
  | 'id'
  | 'workspaceId'
  | 'provider'
  | 'waNumber'
  | 'firstConnectedAt'
  | 'restrictedAt'
  | 'atRiskAt'
  | 'dailyRecipients'
  | 'disconnections'
  | 'deletedAt'
>

/**
 * The instances with these ids, and the time of the transaction: one statement, so one round trip. Deleted ones are included, because a
 * campaign may enqueue its last page while its instance is deleted; those messages fail when they are claimed.
 */
export async function readSendingInstances(
  tx: Sql,
  ids: readonly string[],
): Promise<{ now: Date; instances: Map<string, SendingInstance> }> {
  const { rows } = await tx.query<SendingInstance & { now: Date }>({
    name: 'instances.sending',
    text: `select date_trunc('milliseconds', now()) as now, i.id, i."workspaceId", i.provider, i."waNumber", i."firstConnectedAt", i."restrictedAt",
        i."atRiskAt", i."dailyRecipients", coalesce(i.disconnections, '{}') as disconnections, i."deletedAt", l.node as holder
      from (select 1) one left join instances i on i.id = any(${arrayOf('$1', 'uuid')})
      left join instance_leases l on l."instanceId" = i.id and l."leaseUntil" > now()`,
    values: [ids],
  })
  const { now } = rows[0] as { now: Date }
  return { now, instances: new Map(rows.filter((row) => row.id).map((row) => [row.id, row])) }
}

/** Locks instances FOR SHARE, so that none connects or is deleted before `tx` ends. Returns the ids of those that are not connected. */
export async function lockDisconnected(tx: Sql, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from (select id, status, "deletedAt" from instances where id = any($1::uuid[]) order by id for share) i
     where status <> 'connected' and "deletedAt" is null`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Locks an instance FOR SHARE if it is connected or deleted. Returns whether it is. */
export async function lockConnectedOrDeleted(tx: Sql, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from instances where id = $1 and (status = 'connected' or "deletedAt" is not null) for share`,
    [id],
  )
  return (rowCount ?? 0) > 0
}

/** The channel on which a process learns of messages for a connection that it holds: of new ones by their ids, or that some wait. */
const channel = 'gateway_holders'

/** Notifies the processes other than `node` that hold the connections of these instances that messages wait, when `tx` commits. */
export async function notifyOfWaiting(tx: Sql, ids: readonly string[], node: string): Promise<void> {
  await tx.query(
    `select pg_notify('${channel}', node || ' ' || "instanceId") from instance_leases
     where "instanceId" = any($1::uuid[]) and node <> $2 and "leaseUntil" > now()`,
    [ids, node],
  )
}

/** PostgreSQL takes less than 8,000 bytes in a notification. */
const idsPerNotification = 200

/** Notifies the holders of their connections of the ids of new messages, when `tx` commits. */
export async function notifyOfNew(
  tx: Sql,
  messages: readonly { id: string; instanceId: string; holder: string }[],
): Promise<void> {
  const payloads: string[] = []
  for (const [connection, list] of Map.groupBy(messages, ({ holder, instanceId }) => `${holder} ${instanceId}`)) {
    const ids = list.map(({ id }) => id)
    for (let i = 0; i < ids.length; i += idsPerNotification)
      payloads.push(`${connection} ${ids.slice(i, i + idsPerNotification)}`)
  }
  await tx.query({
    name: 'holders.notify',
    text: `select pg_notify('${channel}', payload) from unnest($1::text[]) as u(payload)`,
    values: [payloads],
  })
}

/** A notification on this channel: the process that it is for, the instance, and the ids of new messages. */
export function readNotification(payload: string): { node?: string; instanceId?: string; ids: string[] } {
  const [node, instanceId, ids] = payload.split(' ')
  return { node, instanceId, ids: ids?.split(',') ?? [] }
}

/** Sends an empty query over a dedicated connection. It fails if the network has forgotten the connection. */
export async function confirmConnection(sql: Sql): Promise<void> {
  await sql.query('select')
}

/** Receives the notifications of {@link notifyOfWaiting} and {@link notifyOfNew} in the session of a dedicated connection. */
export async function listenAsHolder(sql: Sql): Promise<void> {
  await sql.query(`listen ${channel}`)
}
