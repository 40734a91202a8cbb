// Accepts the messages of a campaign, a page of its recipients at a time.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { emit } from '../../events/log/emit.ts'
import type { SafetyState } from '../../instances/safety.ts'
import { readSendingInstances, type SendingInstance } from '../../instances/sending.sql.ts'
import type { ApprovedTemplate } from '../../providers/outgoing.ts'
import { dispatchRequest, enqueueDispatch } from '../dispatch/dispatch-job.ts'
import { messageEvent } from '../events.ts'
import { markOutsideWindow } from '../safety/free-window.ts'
import { type MessageSafety, safetyCache } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'
import { insertMessages } from './insert.sql.ts'
import { composeRows, type NewMessage } from './rows.ts'

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
export async function acceptCampaignMessages(
  app: App,
  tx: Sql,
  campaign: CampaignMessage,
  recipients: readonly CampaignRecipient[],
  now: Date,
): Promise<{ ids: string[]; state: SafetyState }> {
  const { id: campaignId, instanceId, recipientsCount, type, mediaUrl, content, template } = campaign
  const cache = safetyCache(app)
  // Another process may have taken them back, while the windows of this one still count them.
  cache.forget(
    instanceId,
    recipients.flatMap(({ to, messageId }) => (messageId === null ? [] : to)),
  )
  await cache.load(
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
  const messages = composeRows(app, await markOutsideWindow(app, tx, drafts))
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
