// SQL of the data of accounts that have ended: every row of a workspace, from the highest domain to the lowest.
import type { Sql } from './core/database/database.ts'
import type { ExpiredRows } from './core/jobs/prune.sql.ts'
import { isReferred, isTooSlow } from './core/public-failure.ts'

const own = '"workspaceId" = $2'
const below = (column: string, table: string) => `"${column}" in (select id from ${table} where ${own})`

/**
 * The tables with the data of a workspace, and those of its instances, its team and its files. Both are in an order that no foreign key
 * forbids, and a test compares them with the models. The outbox comes after all tables whose rows make events when they change, and the
 * counts of the relay come after the outbox.
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
  ['idempotency_keys', own],
  ['outbox', own],
  ['message_days', own],
]
const ofInstances: typeof ofWorkspace = [
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
  ['media_usage', own],
  ['workspaces', 'id = $2'],
]

const ofUser = ['usage', 'api_usage', 'checkouts', 'payments', 'subscriptions'] as const

const rowsIn = (tables: typeof ofWorkspace, workspaceId: string) =>
  tables.map(([table, where]): ExpiredRows => ({ table, where, values: [workspaceId] }))

export function rowsOfWorkspace(workspaceId: string): ExpiredRows[] {
  return rowsIn(ofWorkspace, workspaceId)
}

/** The instances, the team and the sums of the files, and last the workspace itself, by which {@link readEnded} finds all of this. */
export function rowsOfInstances(workspaceId: string): ExpiredRows[] {
  return rowsIn(ofInstances, workspaceId)
}

export function rowsOfUser(userId: string): ExpiredRows[] {
  return ofUser.map((table) => ({ table, where: '"userId" = $2', values: [userId] }))
}

export interface EndedWorkspace {
  id: string
  /** Instances that are not closed yet. */
  open: number
  /** True while a device is still to be removed from its account on the network. */
  linked: boolean
}

/**
 * The workspaces of a user whose account has ended, those with linked devices last; none for any other user. The last hour of a removal is left
 * to the job, so that the account is erased within a day.
 */
export async function readEnded(sql: Sql, userId: string): Promise<EndedWorkspace[]> {
  const { rows } = await sql.query<EndedWorkspace>(
    `select w.id, (select count(*)::int from instances i where i."workspaceId" = w.id and i."deletedAt" is null) as open,
       exists (select from instances i where i."workspaceId" = w.id and (
         exists (select from web_sessions s where s."instanceId" = i.id and s.removal is not null and s."removalUntil" > now() + interval '1 hour')
         or exists (select from web_removals r where r."instanceId" = i.id and r.until > now() + interval '1 hour'))) as linked
     from workspaces w join users u on u.id = w."ownerId" where u.id = $1 and u."endedAt" is not null order by linked, w.id`,
    [userId],
  )
  return rows
}

/**
 * Empties the next events of the workspace above the number `after`, at most `batch`. They stay, because the log has no gaps. Returns the
 * number of the last one; null if there was none (index on workspaceId and seq). Events that are empty already are not written again.
 */
export async function emptyEvents(sql: Sql, workspaceId: string, after: string, batch: number): Promise<string | null> {
  const { rows } = await sql.query<{ last: string | null }>(
    `with next as materialized (
       select seq from events where "workspaceId" = $1 and seq > $2 order by seq limit $3
     ), emptied as (
       update events set payload = '{}', "instanceId" = null, "messageId" = null, "campaignId" = null
       where seq = any(array(select seq from next)) and payload::text <> '{}'
     ) select max(seq)::text as last from next`,
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
