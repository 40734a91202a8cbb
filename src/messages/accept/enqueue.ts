// Enqueues and counts the messages of a campaign, and takes back or cancels those that have not been sent.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { deleteJobs } from '../../core/jobs/jobs.ts'
import { emit } from '../../events/log/emit.ts'
import type { SafetyState } from '../../instances/safety.ts'
import { readSendingInstances, type SendingInstance } from '../../instances/sending.sql.ts'
import type { ApprovedTemplate } from '../../providers/outgoing.ts'
import { campaignDispatchJob, dispatchRequest, enqueueDispatch } from '../dispatch/dispatch-job.ts'
import { messageEvent } from '../events.ts'
import { readOutside } from '../safety/free-window.ts'
import { type MessageSafety, safetyCache } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'
import { insertMessages } from './insert.sql.ts'
import { composeRows, type NewMessage } from './rows.ts'
import { cancelQueuedOf, deleteUnsent, type UnsentMessage } from './unsent.sql.ts'

/** The fields that all messages of a campaign share. */
export interface CampaignMessage extends Omit<ComposedMessage, 'contactId' | 'template'> {
  id: string
  workspaceId: string
  userId: string
  instanceId: string
  recipientsCount: number
  /** The approved template that the messages go out as, if any; its values are those of each recipient. */
  template: Omit<ApprovedTemplate, 'parameters'> | null
}

export interface CampaignRecipient {
  to: string
  contactId: string | null
  reference: string | null
  /** The id of its message that was taken back, whose event `message.queued` is in the log; null for a new one. */
  messageId: string | null
  /** Replaces the campaign's body. */
  body: string | null
  /** The values of the approved template. */
  parameters: readonly string[] | null
}

/**
 * Stores one message per recipient with its dispatch job, in the transaction `tx`. The caller reserves the quota in the same transaction.
 * Returns the ids of the messages, and the safety state of the instance with the last of them.
 */
export async function enqueueMessages(
  app: App,
  tx: Sql,
  campaign: CampaignMessage,
  recipients: readonly CampaignRecipient[],
  now: Date,
): Promise<{ ids: string[]; state: SafetyState }> {
  const { id: campaignId, instanceId, recipientsCount, type, mediaUrl, content, template } = campaign
  await safetyCache(app).load(
    recipients.map(({ to }) => ({ instanceId, to })),
    tx,
  )
  const instance = (await readSendingInstances(tx, [instanceId])).instances.get(instanceId) as SendingInstance
  const drafts = recipients.map(
    ({ to, contactId, body, reference, parameters, messageId }): NewMessage => ({
      id: messageId ?? newId(),
      principal: campaign,
      instance,
      to,
      scheduledAt: null,
      createdAt: now,
      campaignId,
      reference,
      campaignRecipients: recipientsCount,
      contactId,
      type,
      body: body ?? campaign.body,
      mediaUrl,
      content,
      template: template && parameters && { ...template, parameters },
    }),
  )
  const messages = composeRows(app, await readOutside(app, tx, drafts))
  await Promise.all([
    insertMessages(tx, messages),
    enqueueDispatch(
      app,
      tx,
      messages.map((message) => dispatchRequest(message)),
    ),
    emit(
      tx,
      messages.flatMap((message, i) => (recipients[i]?.messageId ? [] : [messageEvent(message, 'queued', now)])),
    ),
  ])
  const judged = messages.at(-1)?.safety as Partial<MessageSafety> | undefined
  return { ids: messages.map(({ id }) => id), state: judged?.state ?? 'restricted' }
}

/**
 * Deletes a campaign's messages that have not been sent (queued, or given back by the provider) and returns their quota. Returns their ids.
 * The dispatch jobs of deleted messages find no row and do nothing.
 */
export async function takeBack(app: App, tx: Sql, campaignId: string): Promise<string[]> {
  const rows = await deleteUnsent(tx, campaignId)
  await returnQuota(tx, rows)
  await dropJobs(app, tx, rows)
  return rows.map(({ id }) => id)
}

/** The jobs of waiting messages start only at the end of the time to live, which may be a day away, so they are deleted. */
async function dropJobs(app: App, tx: Sql, rows: readonly UnsentMessage[]): Promise<void> {
  const waiting = rows.flatMap(({ id, waiting }) => (waiting ? [id] : []))
  await deleteJobs(app, tx, campaignDispatchJob, waiting)
}

/** Cancels a campaign's queued messages and returns their quota. */
export async function cancelQueued(tx: Sql, campaignId: string): Promise<void> {
  const rows = await cancelQueuedOf(tx, campaignId)
  await returnQuota(tx, rows)
  const now = new Date()
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'cancelled', now)),
  )
}
