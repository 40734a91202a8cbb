// SQL of instances on Meta's Cloud API: their state before a report, those whose health is due, and those that share a business account.
import type { Sql } from '../../core/database/database.ts'
import type { InstanceStatus } from '../../generated/prisma/enums.ts'

/** Locks an instance that is neither deleted nor resting, and returns its status and the words for its last error. */
export async function lockStatus(
  tx: Sql,
  instanceId: string,
): Promise<{ status: InstanceStatus; lastError: string | null } | undefined> {
  const { rows } = await tx.query<{ status: InstanceStatus; lastError: string | null }>(
    `select status, "lastError" from instances where id = $1 and "deletedAt" is null and "restingAt" is null for update`,
    [instanceId],
  )
  return rows[0]
}

/**
 * Takes connected instances whose health was last read before `everyMs`, at most `limit`, so that one process reads each. The row locks
 * decide between two processes.
 */
export async function takeDueHealth(sql: Sql, everyMs: number, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>({
    name: 'cloud.health',
    text: `update instances set "healthReadAt" = now() where id in (
        select id from instances where provider = 'cloud' and status = 'connected' and "deletedAt" is null
          and coalesce("healthReadAt", '-infinity') <= now() - $1 * interval '1 millisecond'
        order by "healthReadAt" nulls first limit $2 for update skip locked) returning id`,
    values: [everyMs, limit],
  })
  return rows.map(({ id }) => id)
}

/** Marks the health of an instance as read. */
export async function noteHealth(sql: Sql, instanceId: string): Promise<void> {
  await sql.query('update instances set "healthReadAt" = now() where id = $1', [instanceId])
}

/** The instances of any workspace that use a business account, connected ones first. */
export async function readUsers(sql: Sql, businessAccountId: string): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from instances where provider = 'cloud' and "deletedAt" is null and settings->>'businessAccountId' = $1
       and status in ('connected', 'connecting', 'disconnected')
     order by status = 'connected' desc, id`,
    [businessAccountId],
  )
  return rows.map(({ id }) => id)
}

export interface Departure {
  businessAccountId: string
  accessToken: Uint8Array<ArrayBuffer>
}

/** Keeps the sealed token for a business account that an instance leaves, until its webhooks end. */
export async function addDeparture(tx: Sql, instanceId: string, departure: Departure): Promise<void> {
  await tx.query(
    `insert into cloud_departures ("instanceId", "businessAccountId", "accessToken") values ($1, $2, $3)
     on conflict ("instanceId") do update
       set "businessAccountId" = excluded."businessAccountId", "accessToken" = excluded."accessToken", "createdAt" = now()`,
    [instanceId, departure.businessAccountId, departure.accessToken],
  )
}

export async function readDeparture(sql: Sql, instanceId: string): Promise<Departure | undefined> {
  const { rows } = await sql.query<Departure & { [column: string]: unknown }>(
    `select "businessAccountId", "accessToken" from cloud_departures where "instanceId" = $1 and "createdAt" > now() - interval '24 hours'`,
    [instanceId],
  )
  return rows[0]
}

export async function endDeparture(sql: Sql, instanceId: string, businessAccountId: string): Promise<void> {
  await sql.query('delete from cloud_departures where "instanceId" = $1 and "businessAccountId" = $2', [
    instanceId,
    businessAccountId,
  ])
}

export const expiredDepartures = { table: 'cloud_departures', where: `"createdAt" < now() - interval '24 hours'` }
