// SQL of instances on Meta's Cloud API: their state before a report, those whose health is due, and those that share a business account.
import type { Sql } from '../../core/database/database.ts'
import type { InstanceStatus } from '../../generated/prisma/enums.ts'

/** Locks an instance that is neither deleted nor resting, and returns its status and the words for its last error. */
export async function lockStatus(
  tx: Sql,
  instanceId: string,
): Promise<{ status: InstanceStatus; lastError: string | null } | undefined> {
  const { rows } = await tx.query<{ status: InstanceStatus; lastError: string | null }>(
    `select status, "lastError" from instances where id = $1 and "deletedAt" is null and "restingAt" is null for no key update`,
    [instanceId],
  )
  return rows[0]
}

/** The workspace of an instance, which may be deleted. */
export async function readWorkspace(tx: Sql, instanceId: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ workspaceId: string }>('select "workspaceId" from instances where id = $1', [instanceId])
  return rows[0]?.workspaceId
}

const usesAccount = `provider = 'cloud' and "deletedAt" is null and status in ('connected', 'connecting', 'disconnected')`

/** Locks an instance, and returns true if it uses this business account. */
export async function lockUse(tx: Sql, instanceId: string, businessAccountId: string): Promise<boolean> {
  const { rows } = await tx.query<{ uses: boolean }>(
    `select ${usesAccount} and settings->>'businessAccountId' = $2 as uses from instances where id = $1 for no key update`,
    [instanceId, businessAccountId],
  )
  return rows[0]?.uses === true
}

/**
 * The instances of any workspace that use a business account, connected ones first. `isSister`: it is in the workspace of the instance
 * `leaving`, which may be deleted.
 */
export async function readUsers(
  sql: Sql,
  businessAccountId: string,
  leaving: string,
): Promise<{ id: string; isSister: boolean }[]> {
  const { rows } = await sql.query<{ id: string; isSister: boolean }>(
    `select id, "workspaceId" = (select "workspaceId" from instances where id = $2) as "isSister" from instances
     where ${usesAccount} and settings->>'businessAccountId' = $1 order by status = 'connected' desc, id`,
    [businessAccountId, leaving],
  )
  return rows
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
