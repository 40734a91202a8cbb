// SQL of the operator's checks.
import type { Sql } from '../core/database/database.ts'
import type { ProviderName, StoredInstance } from '../providers/provider.ts'

export async function readClock(sql: Sql): Promise<Date> {
  return (await sql.query<{ now: Date }>('select clock_timestamp() as now')).rows[0]?.now as Date
}

/** Number of instances by provider and status. */
export async function countInstances(sql: Sql): Promise<{ provider: string; status: string; count: string }[]> {
  const { rows } = await sql.query<{ provider: string; status: string; count: string }>(
    `select provider::text, status::text, count(*) from instances where "deletedAt" is null group by 1, 2 order by 1, 2`,
  )
  return rows
}

/** The encrypted secret of the newest endpoint; undefined when no endpoint exists. */
export async function newestWebhookSecret(sql: Sql): Promise<Buffer | undefined> {
  const { rows } = await sql.query<{ secret: Buffer }>(
    `select secret from webhook_endpoints where "deletedAt" is null order by "createdAt" desc limit 1`,
  )
  return rows[0]?.secret
}

/** The encrypted secrets of the newest instance that has some; undefined when none has. */
export async function newestInstanceSecrets(sql: Sql): Promise<Buffer | undefined> {
  const { rows } = await sql.query<{ credentials: Buffer }>(
    'select credentials from instances where credentials is not null order by "createdAt" desc limit 1',
  )
  return rows[0]?.credentials
}

export type ConnectedInstance = StoredInstance & { name: string; provider: ProviderName; lastError: string | null }

/** The oldest `most` connected instances of real networks, and how many there are in all. */
export async function readConnected(sql: Sql, most: number): Promise<{ instances: ConnectedInstance[]; n: number }> {
  const { rows } = await sql.query<ConnectedInstance & { n: number }>(
    `select id, name, provider, "waNumber", "lastError", settings, credentials, count(*) over ()::int as n from instances
     where status = 'connected' and "deletedAt" is null and provider <> 'sandbox' order by "createdAt", id limit $1`,
    [most],
  )
  return { instances: rows, n: rows[0]?.n ?? 0 }
}

/** Those of the instances whose connection a process holds now. */
export async function readLeased(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>(
    'select "instanceId" as id from instance_leases where "instanceId" = any($1::uuid[]) and "leaseUntil" > now()',
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}
