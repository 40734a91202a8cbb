// SQL of instances: their row locks, and the change of their state under that lock.
import type { Sql } from '../core/database/database.ts'
import type { Instance, InstanceStatus } from '../generated/prisma/client.ts'
import type { StateChange } from '../providers/reports.ts'

/** Locks an instance of the workspace that is not deleted. */
export async function lockInstance(tx: Sql, workspaceId: string, id: string): Promise<Instance | undefined> {
  const { rows } = await tx.query<Instance>(
    'select * from instances where id = $1 and "workspaceId" = $2 and "deletedAt" is null for no key update',
    [id, workspaceId],
  )
  return rows[0]
}

export type ProviderRow = Pick<Instance, 'id' | 'provider' | 'waNumber' | 'settings' | 'credentials'>

/** Instances of any workspace that are not deleted, by their ids (primary key). */
export async function readOfProvider(sql: Sql, ids: readonly string[]): Promise<Map<string, ProviderRow>> {
  const { rows } = await sql.query<ProviderRow>({
    name: 'instances.provider',
    text: 'select id, provider, "waNumber", settings, credentials from instances where id = any($1::uuid[]) and "deletedAt" is null',
    values: [[...new Set(ids)]],
  })
  return new Map(rows.map((row) => [row.id, row]))
}

export type LockedState = Pick<Instance, 'status' | 'workspaceId' | 'provider' | 'settings' | 'credentials' | 'restingAt'>

/** Locks an instance of any workspace, for a report of its provider. */
export async function lockState(tx: Sql, id: string): Promise<LockedState | undefined> {
  const { rows } = await tx.query<LockedState>(
    `select status, "workspaceId", provider, settings, credentials, "restingAt" from instances
     where id = $1 and "deletedAt" is null for no key update`,
    [id],
  )
  return rows[0]
}

/** Marks a locked instance as deleted, and erases its secrets. */
export async function markDeleted(tx: Sql, id: string): Promise<void> {
  await tx.query('update instances set "deletedAt" = now(), credentials = null, "updatedAt" = now() where id = $1', [id])
}

/** Stores what its owner may change of a locked instance. */
export async function storeChanges(
  tx: Sql,
  id: string,
  { name, settings, credentials }: { name: string; settings: unknown; credentials: Instance['credentials'] },
): Promise<void> {
  await tx.query('update instances set name = $2, settings = $3, credentials = $4, "updatedAt" = now() where id = $1', [
    id,
    name,
    JSON.stringify(settings),
    credentials,
  ])
}

/** Replaces the encrypted secrets of a locked instance. */
export async function storeCredentials(tx: Sql, id: string, credentials: Instance['credentials']): Promise<void> {
  await tx.query('update instances set credentials = $2 where id = $1', [id, credentials])
}

/** See `LimitedKind.counted` (core/app.ts). */
export const countedInstances =
  'select "workspaceId", "restingAt" is not null as resting from instances where "deletedAt" is null'

/** Lets a locked instance rest, or ends its rest. */
export async function markResting(tx: Sql, id: string, rests: boolean): Promise<void> {
  await tx.query('update instances set "restingAt" = case when $2 then now() end, "updatedAt" = now() where id = $1', [id, rests])
}

export type Standing = Pick<StateChange, 'atRisk' | 'lastsMs' | 'dailyRecipients' | 'meta'>

/** A report counts from the end of what it tells of. A later report on something shorter does not move that end forward. */
const lastAt = (column: string, ms: string) => `greatest("${column}", now() + ${ms} * interval '1 millisecond')`

/** Stores the network's view of a locked instance. Fields that are left out keep their values. */
export async function storeStanding(tx: Sql, id: string, standing: Standing): Promise<void> {
  const { atRisk = false, lastsMs = 0, dailyRecipients, meta } = standing
  await tx.query(
    `update instances set "atRiskAt" = case when $2 then ${lastAt('atRiskAt', '$5')} else "atRiskAt" end,
       "dailyRecipients" = coalesce($3, "dailyRecipients"), meta = coalesce($4::jsonb, meta), "updatedAt" = now()
     where id = $1`,
    [id, atRisk, dailyRecipients ?? null, meta ? JSON.stringify(meta) : null, lastsMs],
  )
}

export async function markRestricted(tx: Sql, id: string, error: string | null, lastsMs = 0): Promise<void> {
  const text = `update instances set "restrictedAt" = ${lastAt('restrictedAt', '$3')}, "lastError" = $2, "updatedAt" = now() where id = $1`
  await tx.query(text, [id, error, lastsMs])
}

export interface NewState {
  status: InstanceStatus
  qr: string | null
  pairingCode: string | null
  error: string | null
  /** Null keeps the present number. */
  waNumber: string | null
  /** True if it becomes connected, and if it stops being connected. */
  connects: boolean
  leaves: boolean
}

/** Disconnections that are kept: many more than the safety score needs, few enough for each send that reads them. */
const mostDisconnections = 100

/** Stores the state of a locked instance. Keeps the latest disconnections of the last 24 hours, by the clock of the database. */
export async function storeState(tx: Sql, id: string, state: NewState): Promise<void> {
  const { status, qr, pairingCode, error, waNumber, connects, leaves } = state
  await tx.query(
    `update instances set status = $2, qr = $3, "pairingCode" = $4, "lastError" = $5, "waNumber" = coalesce($6, "waNumber"),
       "firstConnectedAt" = case when $7 then coalesce("firstConnectedAt", now()) else "firstConnectedAt" end,
       "lastConnectedAt" = case when $7 then now() else "lastConnectedAt" end,
       "lastDisconnectedAt" = case when $8 then now() else "lastDisconnectedAt" end,
       disconnections = case when $8 then now()::timestamptz(3) || array(select d from unnest(disconnections) d
         where d > now() - interval '24 hours' order by d desc limit ${mostDisconnections - 1}) else disconnections end,
       "updatedAt" = now()
     where id = $1`,
    [id, status, qr, pairingCode, error, waNumber, connects, leaves],
  )
}

/** The number of instances in each status. */
export async function countByStatus(sql: Sql): Promise<{ status: InstanceStatus; n: number }[]> {
  const { rows } = await sql.query<{ status: InstanceStatus; n: number }>(
    'select status, count(*)::int as n from instances where "deletedAt" is null group by status',
  )
  return rows
}
