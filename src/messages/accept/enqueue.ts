// Messages that a campaign makes, and takes back or cancels while they have not begun to leave.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { deleteJobs } from '../../core/jobs/jobs.ts'
import { campaignDispatchJob, dispatchRequest, enqueueDispatch } from '../dispatch/dispatch-job.ts'
import type { SafetyInstance } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'
import { composeRows, insertMessages } from './insert.ts'

/** What the messages of a campaign have in common. */
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
  /** Instead of the campaign's. */
  body: string | null
}

/** Stores one message to each with the job that sends it, in the transaction `tx`, which is to take their quota. Answers their ids. */
export async function enqueueMessages(
  app: App,
  tx: Sql,
  campaign: CampaignMessage,
  recipients: readonly CampaignRecipient[],
  now: Date,
): Promise<string[]> {
  const { id: campaignId, instanceId, recipientsCount, type, mediaUrl, content } = campaign
  await app.safety.load(recipients.map(({ to }) => ({ instanceId, to })))
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
 * As SQL, what was offered and certainly not taken: nobody holds it, and the one offer of it came back. Of more than one, an
 * earlier one may have been taken without an answer.
 */
const cameBack = `m.status = 'sending' and m."leaseToken" is null and m."acceptedAt" is null and m.attempts = 1`

/** As SQL: those of a campaign's messages. Who is claiming one is waited for, so that each is either here or on its way. */
function held(which: string): string {
  return `select m.id, w."ownerId", m."countedPeriod"::text as period, m."waitingSince" is not null as waiting
    from messages m join workspaces w on w.id = m."workspaceId"
    where m."campaignId" = $1 and (${which}) order by m.id for update of m`
}

/**
 * Takes back a campaign's messages that have not left, queued or come back, quota and rows, as if there had been none;
 * answers their ids. Their jobs will find nothing.
 */
export async function takeBack(app: App, tx: Sql, campaignId: string): Promise<string[]> {
  const { rows } = await tx.query<Gone>(
    `with held as (${held(`${queued} or ${cameBack}`)}) delete from messages m using held where m.id = held.id returning held.*`,
    [campaignId],
  )
  await giveBack(tx, rows)
  // Their jobs wait for the end of their time, which may be a day.
  await deleteJobs(
    app,
    tx,
    campaignDispatchJob,
    rows.flatMap(({ id, waiting }) => (waiting ? [id] : [])),
  )
  return rows.map(({ id }) => id)
}

/** Cancels a campaign's queued messages and gives their quota back. */
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
