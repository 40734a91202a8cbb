// SQL of recipients whose messages are deleted: they keep the last status, and the campaign its last activity.
import type { EndedMessage } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'

/** Implements `Hooks.lockCampaigns`. */
export async function lockCampaigns(tx: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.query('select from campaigns where id = any($1::uuid[]) order by id for no key update', [ids])
}

/** Implements `Hooks.keepRecipients`. Relies on the index (campaignId, status, position). */
export async function keepRecipients(tx: Sql, messages: readonly EndedMessage[]): Promise<void> {
  for (const [campaignId, ended] of Map.groupBy(messages, (message) => message.campaignId)) {
    if (campaignId === null) continue
    await tx.query(
      `update campaign_recipients r set status = u.status, error = u.error, "updatedAt" = u.at, "messageId" = null, body = null,
         parameters = null
       from unnest($2::uuid[], $3::recipient_status[], $4::text[], $5::timestamptz[]) as u(id, status, error, at)
       where r."campaignId" = $1 and r.status = 'enqueued' and r."messageId" = u.id`,
      [
        campaignId,
        ended.map(({ id }) => id),
        ended.map(({ status }) => status),
        ended.map(({ error }) => error),
        ended.map(({ updatedAt }) => updatedAt),
      ],
    )
    await tx.query(`update campaigns set "lastActivityAt" = greatest("lastActivityAt", $2) where id = $1`, [
      campaignId,
      ended.reduce((last, { updatedAt }) => (updatedAt > last ? updatedAt : last), new Date(0)),
    ])
  }
}
