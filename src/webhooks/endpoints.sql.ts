// SQL of endpoints: their row locks (FOR NO KEY UPDATE, in the order of their ids), and changes of their secrets and health.
import { arrayOf } from '../core/database/array-parameter.ts'
import type { Sql } from '../core/database/database.ts'
import type { WebhookEndpoint } from '../generated/prisma/client.ts'
import type { Health } from './health.ts'
import { overThePlan, previousSecretHours } from './policy.ts'

/** An endpoint without its encrypted secrets. */
export type StoredEndpoint = Omit<WebhookEndpoint, 'secret' | 'previousSecret'>

const columns = `id, "workspaceId", url, events, "previousSecretUntil", "disabledAt", "disabledReason", "failingSince", "failedEvents",
  "createdById", "approvedById", "createdAt", "updatedAt", "deletedAt"`

/** Locks an endpoint of the workspace that is not deleted. */
export async function lockEndpoint(tx: Sql, workspaceId: string, id: string): Promise<StoredEndpoint | undefined> {
  const { rows } = await tx.query<StoredEndpoint>(
    `select ${columns} from webhook_endpoints where id = $1 and "workspaceId" = $2 and "deletedAt" is null for no key update`,
    [id, workspaceId],
  )
  return rows[0]
}

/** Locks the endpoints of a workspace; with `userId`, only those that this person created or approved. Returns their ids. */
export async function lockEndpointsOf(tx: Sql, workspaceId: string, userId?: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from webhook_endpoints where "workspaceId" = $1 and ($2::uuid is null or "createdById" = $2 or "approvedById" = $2)
       and "deletedAt" is null order by id for no key update`,
    [workspaceId, userId ?? null],
  )
  return rows.map(({ id }) => id)
}

/** Marks an endpoint as deleted and erases its secrets. */
export async function eraseEndpoint(tx: Sql, id: string): Promise<void> {
  await tx.query(
    `update webhook_endpoints set "deletedAt" = now(), "updatedAt" = now(), secret = '', "previousSecret" = null where id = $1`,
    [id],
  )
}

/** See `LimitedKind.counted` (core/app.ts). */
export const countedEndpoints = `select "workspaceId", "disabledReason" is not distinct from '${overThePlan}' as resting from webhook_endpoints
  where "deletedAt" is null`

/** Disables endpoints, whose locks the transaction `tx` holds. One that is disabled keeps its time. */
export async function disableEndpoints(tx: Sql, ids: readonly string[], reason: string): Promise<void> {
  await tx.query(
    `update webhook_endpoints set "disabledReason" = $2, "disabledAt" = coalesce("disabledAt", now()), "updatedAt" = now()
     where id = any($1::uuid[])`,
    [ids, reason],
  )
}

/** Disables those of the endpoints that are enabled, because they exceed the plan. Returns their ids. */
export async function restEndpoints(tx: Sql, ids: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `with enabled as materialized (
       select id from webhook_endpoints where id = any($1::uuid[]) and "disabledAt" is null and "deletedAt" is null order by id for no key update
     )
     update webhook_endpoints e set "disabledReason" = $2, "disabledAt" = now(), "updatedAt" = now() from enabled
     where e.id = enabled.id returning e.id`,
    [ids, overThePlan],
  )
  return rows.map(({ id }) => id)
}

/** Enables those of the endpoints that are disabled because they exceeded the plan. */
export async function resumeEndpoints(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query(
    `with resting as materialized (
       select id from webhook_endpoints where id = any($1::uuid[]) and "disabledReason" = $2 and "deletedAt" is null order by id for no key update
     )
     update webhook_endpoints e set "disabledReason" = null, "disabledAt" = null, "updatedAt" = now() from resting where e.id = resting.id`,
    [ids, overThePlan],
  )
}

export interface StoredSecrets {
  secret: Buffer
  /** The secrets that rotations replaced (previous-secrets.ts), while one of them still signs. */
  previous: Buffer | null
  until: Date | null
  now: Date
}

/** Reads the encrypted secrets of a locked endpoint. */
export async function readSecrets(tx: Sql, id: string): Promise<StoredSecrets> {
  const { rows } = await tx.query<StoredSecrets>(
    `select secret, case when "previousSecretUntil" > now() then "previousSecret" end as previous, "previousSecretUntil" as until, now() as now
     from webhook_endpoints where id = $1`,
    [id],
  )
  return rows[0] as StoredSecrets
}

/** Stores a new secret, and the previous ones, which hold for {@link previousSecretHours} by the clock of the database. */
export async function replaceSecret(
  tx: Sql,
  id: string,
  { secret, previous }: { secret: Buffer; previous: Buffer },
): Promise<StoredEndpoint> {
  const { rows } = await tx.query<StoredEndpoint>(
    `update webhook_endpoints set "previousSecret" = $3, "previousSecretUntil" = now() + make_interval(hours => $4), secret = $2,
       "updatedAt" = now()
     where id = $1 returning ${columns}`,
    [id, secret, previous, previousSecretHours],
  )
  return rows[0] as StoredEndpoint
}

/** The health of an endpoint, the URL that it is about, and the time of the database. */
export interface LockedHealth extends Health {
  id: string
  url: string
  now: Date
}

/** Locks those of the endpoints that fail now or that `failed` names, and returns their health. It locks no healthy endpoint beside these. */
export async function lockHealth(tx: Sql, ids: readonly string[], failed: readonly string[]): Promise<LockedHealth[]> {
  const { rows } = await tx.query<LockedHealth>({
    name: 'webhooks.health.lock',
    text: `select id, url, "failingSince", "failedEvents", "disabledReason", now() as now from webhook_endpoints
      where id = any(${arrayOf('$1', 'uuid')}) and ("failingSince" is not null or id = any($2::uuid[])) order by id for no key update`,
    values: [ids, failed],
  })
  return rows
}

/** Stores the health of locked endpoints. With a reason one is disabled; without one it is enabled. */
export async function storeHealth(tx: Sql, changed: readonly (Health & { id: string })[]): Promise<void> {
  if (changed.length === 0) return
  await tx.query({
    name: 'webhooks.health.store',
    text: `update webhook_endpoints e set "failingSince" = h.since, "failedEvents" = h.failed, "disabledReason" = h.reason,
        "disabledAt" = case when h.reason is null then null else coalesce(e."disabledAt", now()) end
      from unnest(${arrayOf('$1', 'uuid')}, $2::timestamptz[], $3::int[], $4::text[]) as h(id, since, failed, reason) where e.id = h.id`,
    values: [
      changed.map(({ id }) => id),
      changed.map(({ failingSince }) => failingSince),
      changed.map(({ failedEvents }) => failedEvents),
      changed.map(({ disabledReason }) => disabledReason),
    ],
  })
}

/** Deletes the previous secrets that no longer sign deliveries. */
export async function deletePreviousSecrets(sql: Sql): Promise<void> {
  await sql.query(
    `with expired as materialized (select id from webhook_endpoints where "previousSecretUntil" <= now() order by id for no key update)
     update webhook_endpoints e set "previousSecret" = null, "previousSecretUntil" = null from expired where e.id = expired.id`,
  )
}

/** The number of disabled endpoints by reason. */
export async function countDisabled(sql: Sql): Promise<{ reason: string; n: number }[]> {
  const { rows } = await sql.query<{ reason: string; n: number }>(
    `select coalesce("disabledReason", 'unknown') as reason, count(*)::int as n from webhook_endpoints
     where "disabledAt" is not null and "deletedAt" is null group by 1`,
  )
  return rows
}
