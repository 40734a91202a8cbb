// SQL of the data of accounts that have ended: every row of a workspace, from the highest domain to the lowest.
import type { Sql } from './core/database/database.ts'
import type { ExpiredRows } from './core/jobs/prune.sql.ts'
import { isReferred, isTooSlow } from './core/public-failure.ts'

const own = '"workspaceId" = $2'
const below = (column: string, table: string) => `"${column}" in (select id from ${table} where ${own})`

/**
 * The tables in an order that no foreign key forbids. A test compares them with the models. The outbox comes after all tables whose rows make
 * events when they change, and the counts of the relay come after the outbox.
 */
const ofWorkspace: readonly (readonly [table: string, where: string])[] = [
  ['webhook_deliveries', below('endpointId', 'webhook_endpoints')],
  ['webhook_redeliveries', own],
  ['webhook_endpoints', own],
  ['campaign_recipients', below('campaignId', 'campaigns')],
  ['messages', own],
  ['campaigns', own],
  ['templates', own],
  ['contact_group_members', below('groupId', 'contact_groups')],
  ['contact_groups', own],
  ['contacts', own],
  ['bulk_jobs', own],
  ['suppressions', own],
  ['suppression_settings', own],
  ['retention_settings', own],
  ['media_usage', own],
  ['idempotency_keys', own],
  ['sandbox_steps', below('instanceId', 'instances')],
  ['sandbox_messages', below('instanceId', 'instances')],
  ['web_keys', below('instanceId', 'instances')],
  ['cloud_addresses', below('instanceId', 'instances')],
  ['web_removals', below('instanceId', 'instances')],
  ['web_creds', below('instanceId', 'instances')],
  ['web_sessions', below('instanceId', 'instances')],
  ['web_calls', below('instanceId', 'instances')],
  ['web_numbers', below('instanceId', 'instances')],
  ['web_options', below('instanceId', 'instances')],
  ['instance_leases', below('instanceId', 'instances')],
  ['instances', own],
  ['team_members', below('teamId', 'teams')],
  ['team_invitations', below('teamId', 'teams')],
  ['api_key_days', below('keyId', 'api_keys')],
  ['api_keys', own],
  ['teams', own],
  ['outbox', own],
  ['message_days', own],
]

const ofUser = ['usage', 'api_usage', 'checkouts', 'payments', 'subscriptions'] as const

/** What a workspace has, without its own row, by which {@link readEnded} finds it. */
export function rowsOfWorkspace(workspaceId: string): ExpiredRows[] {
  return ofWorkspace.map(([table, where]) => ({ table, where, values: [workspaceId] }))
}

export function workspaceRow(workspaceId: string): ExpiredRows {
  return { table: 'workspaces', where: 'id = $2', values: [workspaceId] }
}

export function rowsOfUser(userId: string): ExpiredRows[] {
  return ofUser.map((table) => ({ table, where: '"userId" = $2', values: [userId] }))
}

export interface EndedWorkspace {
  id: string
  /** Instances that are not closed yet. */
  open: number
}

/** The workspaces of a user whose account has ended; none for any other user. */
export async function readEnded(sql: Sql, userId: string): Promise<EndedWorkspace[]> {
  const { rows } = await sql.query<EndedWorkspace>(
    `select w.id, (select count(*)::int from instances i where i."workspaceId" = w.id and i."deletedAt" is null) as open
     from workspaces w join users u on u.id = w."ownerId" where u.id = $1 and u."endedAt" is not null order by w.id`,
    [userId],
  )
  return rows
}

/**
 * Empties the next events of the workspace above the number `after`, at most `batch`. They stay, because the log has no gaps. Returns the
 * number of the last one; null if there was none (index on workspaceId and seq).
 */
export async function emptyEvents(sql: Sql, workspaceId: string, after: string, batch: number): Promise<string | null> {
  const { rows } = await sql.query<{ last: string | null }>(
    `with emptied as (
       update events set payload = '{}', "instanceId" = null, "messageId" = null, "campaignId" = null where seq = any(array(
         select seq from events where "workspaceId" = $1 and seq > $2 order by seq limit $3)) returning seq
     ) select max(seq)::text as last from emptied`,
    [workspaceId, after, batch],
  )
  return rows[0]?.last ?? null
}

/**
 * Deletes the user, unless messages or keys of a team still refer to it. PostgreSQL reads all messages of the installation to know that, because no
 * index on them begins with the user. Where this takes too long, the row stays, as one that is referred to: it holds no name or address any more.
 */
export async function deleteUser(sql: Sql, userId: string): Promise<void> {
  await sql.query('delete from users where id = $1 and "endedAt" is not null', [userId]).catch((error: unknown) => {
    if (!isReferred(error) && !isTooSlow(error)) throw error
  })
}
