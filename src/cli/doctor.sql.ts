// SQL of the operator's checks.
import type { Sql } from '../core/database/database.ts'

/** `number` is the version as PostgreSQL counts it, for example 150004. */
export async function readServer(sql: Sql): Promise<{ version: string; number: number; encoding: string }> {
  const { rows } = await sql.query<{ version: string; number: number; encoding: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding`,
  )
  return rows[0] as { version: string; number: number; encoding: string }
}

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
