// SQL of departures: the business accounts whose webhooks may point at an instance that does not use them.
import type { Sql } from '../../core/database/database.ts'

/** A business account and an instance. */
export interface Pointing {
  instanceId: string
  businessAccountId: string
}

export interface Departure extends Pointing {
  accessToken: Uint8Array<ArrayBuffer>
  /** When it may be ended: until then, a call that subscribes the account may be under way. */
  dueAt: Date
  isDue: boolean
  createdAt: Date
}

/** Keeps the sealed token for a business account until its webhooks end, at the earliest in `afterMs`. A later time that it has stays. */
export async function addDeparture(
  tx: Sql,
  { instanceId, businessAccountId }: Pointing,
  accessToken: Uint8Array<ArrayBuffer>,
  afterMs = 0,
): Promise<void> {
  await tx.query(
    `insert into cloud_departures as d ("instanceId", "businessAccountId", "accessToken", "dueAt")
     values ($1, $2, $3, now() + $4 * interval '1 millisecond')
     on conflict ("instanceId", "businessAccountId") do update
       set "accessToken" = excluded."accessToken", "dueAt" = greatest(d."dueAt", excluded."dueAt"), "createdAt" = now()`,
    [instanceId, businessAccountId, accessToken, afterMs],
  )
}

export async function readDeparture(sql: Sql, { instanceId, businessAccountId }: Pointing): Promise<Departure | undefined> {
  const { rows } = await sql.query<Departure & { [column: string]: unknown }>(
    `select "instanceId", "businessAccountId", "accessToken", "createdAt", "dueAt", "dueAt" <= now() as "isDue"
     from cloud_departures where "instanceId" = $1 and "businessAccountId" = $2 and "createdAt" > now() - interval '24 hours'`,
    [instanceId, businessAccountId],
  )
  return rows[0]
}

/** The call that it waited for is over. */
export async function hastenDeparture(tx: Sql, { instanceId, businessAccountId }: Pointing): Promise<void> {
  await tx.query('update cloud_departures set "dueAt" = now() where "instanceId" = $1 and "businessAccountId" = $2', [
    instanceId,
    businessAccountId,
  ])
}

/** `since`: ends it only if it was not added again after that time. */
export async function endDeparture(sql: Sql, { instanceId, businessAccountId }: Pointing, since?: Date): Promise<void> {
  await sql.query(
    `delete from cloud_departures where "instanceId" = $1 and "businessAccountId" = $2 and "createdAt" = coalesce($3, "createdAt")`,
    [instanceId, businessAccountId, since ?? null],
  )
}

export const expiredDepartures = { table: 'cloud_departures', where: `"createdAt" < now() - interval '24 hours'` }
