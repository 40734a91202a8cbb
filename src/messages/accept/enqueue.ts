// Enqueues and counts the messages of a campaign, and takes back or cancels those that have not been sent.

import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { deleteJobs } from '../../core/jobs/jobs.ts'
import { campaignDispatchJob, dispatchRequest, enqueueDispatch } from '../dispatch/dispatch-job.ts'
import type { SafetyInstance } from '../safety/safety.ts'
import { safetyBook } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'
import { composeRows, insertMessages } from './insert.ts'

/** The fields that all messages of a campaign share. */
export interface CampaignMessage extends Omit<ComposedMessage, 'contactId'> {
  id: string
  workspaceId: string
  userId: string
  instanceId: string
  recipientsCount: number
}

export interface CampaignRecipient {
  to: string
  contactId: string | null
  /** Replaces the campaign's body. */
  body: string | null
}

/**
 * Stores one message per recipient with its dispatch job, in the transaction `tx`. The caller reserves the quota in the same transaction.
 * Returns the ids of the messages.
 */
export async function enqueueMessages(
  app: App,
  tx: Sql,
  campaign: CampaignMessage,
  recipients: readonly CampaignRecipient[],
  now: Date,
): Promise<string[]> {
  const { id: campaignId, instanceId, recipientsCount, type, mediaUrl, content } = campaign
  await safetyBook(app).load(recipients.map(({ to }) => ({ instanceId, to })))
  const instance = await readInstance(tx, instanceId)
  const messages = composeRows(
    app,
    recipients.map(({ to, contactId, body }) => ({
      id: newId(),
      principal: campaign,
      instance,
      to,
      scheduledAt: null,
      campaignId,
      campaignRecipients: recipientsCount,
      contactId,
      type,
      body: body ?? campaign.body,
      mediaUrl,
      content,
    })),
    now,
  )
  await Promise.all([
    insertMessages(tx, messages),
    enqueueDispatch(
      app,
      tx,
      messages.map((message) => dispatchRequest(message)),
    ),
  ])
  return messages.map(({ id }) => id)
}

async function readInstance(tx: Sql, id: string): Promise<SafetyInstance & { waNumber: string | null }> {
  const { rows } = await tx.query<SafetyInstance & { waNumber: string | null }>({
    name: 'messages.enqueue.instance',
    text: `select id, "waNumber", "firstConnectedAt", "restrictedAt", coalesce(disconnections, '{}') as disconnections from instances where id = $1`,
    values: [id],
  })
  return rows[0] as SafetyInstance & { waNumber: string | null }
}

interface Gone {
  id: string
  ownerId: string
  period: string | null
  waiting: boolean
}

const queued = `m.status = 'queued'`
/**
 * SQL condition for a message that the provider certainly does not have: no lease, and its only attempt ended with `retry`. After several
 * attempts, an earlier one may have been accepted although its answer was lost.
 */
const cameBack = `m.status = 'sending' and m."leaseToken" is null and m."acceptedAt" is null and m.attempts = 1`

/**
 * SQL query for the campaign's messages that match `which`. Its row locks wait for a running claim, so each message is either in the result
 * or in delivery.
 */
function held(which: string): string {
  return `select m.id, w."ownerId", m."countedPeriod"::text as period, m."waitingSince" is not null as waiting
    from messages m join workspaces w on w.id = m."workspaceId"
    where m."campaignId" = $1 and (${which}) order by m.id for update of m`
}

/**
 * Deletes a campaign's messages that have not been sent (queued, or given back by the provider) and returns their quota. Returns their ids.
 * The dispatch jobs of deleted messages find no row and do nothing.
 */
export async function takeBack(app: App, tx: Sql, campaignId: string): Promise<string[]> {
  const { rows } = await tx.query<Gone>(
    `with held as (${held(`${queued} or ${cameBack}`)}) delete from messages m using held where m.id = held.id returning held.*`,
    [campaignId],
  )
  await giveBack(tx, rows)
  // The jobs of waiting messages start only at the end of the time to live, which may be a day away, so they are deleted here.
  await deleteJobs(
    app,
    tx,
    campaignDispatchJob,
    rows.flatMap(({ id, waiting }) => (waiting ? [id] : [])),
  )
  return rows.map(({ id }) => id)
}

/** Cancels a campaign's queued messages and returns their quota. */
export async function cancelQueued(tx: Sql, campaignId: string): Promise<void> {
  const { rows } = await tx.query<Gone>(
    `with held as (${held(queued)})
     update messages m set status = 'cancelled', "cancelledAt" = now(), "updatedAt" = now(), "countedPeriod" = null, "waitingSince" = null
     from held where m.id = held.id returning held.*`,
    [campaignId],
  )
  await giveBack(tx, rows)
}

async function giveBack(tx: Sql, rows: readonly Gone[]): Promise<void> {
  await returnQuota(
    tx,
    rows.flatMap(({ ownerId, period }) => (period ? [{ ownerId, period }] : [])),
  )
}

/** Counts the messages of the campaign that are queued or sending, and those of them that no provider has accepted. */
export async function countOpen(tx: Sql, campaignId: string): Promise<{ open: number; waiting: number }> {
  const { rows } = await tx.query<{ open: number; waiting: number }>({
    name: 'messages.open',
    text: `select count(*)::int as open, count(*) filter (where "acceptedAt" is null)::int as waiting
      from messages where "campaignId" = $1 and status in ('queued', 'sending')`,
    values: [campaignId],
  })
  return rows[0] as { open: number; waiting: number }
}
