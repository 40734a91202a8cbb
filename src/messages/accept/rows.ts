// Composes the rows of new outbound messages, with their safety assessment.
import type { App } from '../../core/app.ts'
import type { Principal } from '../../core/principal.ts'
import type { Message } from '../../generated/prisma/client.ts'
import type { SendingInstance } from '../../instances/sending.sql.ts'
import { warnOutsideWindow } from '../safety/free-window.ts'
import { safetyCache } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'

export interface NewMessage extends ComposedMessage {
  id: string
  principal: Pick<Principal, 'userId' | 'workspaceId'>
  instance: SendingInstance
  to: string
  scheduledAt: Date | null
  /** When it is accepted. Orders it among the messages to the same number. */
  createdAt: Date
  campaignId: string | null
  reference: string | null | undefined
  ignoresSuppression?: boolean
  /** True if the network will take nothing but an approved template, which this is not. */
  outsideWindow?: boolean
  /** Number of recipients of the campaign. */
  campaignRecipients?: number
}

/** The rows of new messages as they will be stored. */
export function composeRows(app: App, messages: readonly NewMessage[]): Message[] {
  return messages.map((message) => rowOf(app, message))
}

function rowOf(app: App, message: NewMessage): Message {
  const now = message.createdAt
  const judged = safetyCache(app).judge(message.instance, message, now, message.campaignRecipients)
  const { cold } = judged
  const { warnings, safety } = message.outsideWindow ? warnOutsideWindow(judged) : judged
  return {
    id: message.id,
    workspaceId: message.principal.workspaceId,
    userId: message.principal.userId,
    instanceId: message.instance.id,
    contactId: message.contactId,
    campaignId: message.campaignId,
    direction: 'outbound',
    type: message.type,
    from: message.instance.waNumber,
    to: message.to,
    peer: message.to,
    body: message.body,
    mediaUrl: message.mediaUrl,
    content: message.content as Message['content'],
    template: message.template as Message['template'],
    status: 'queued',
    error: null,
    errorDetail: null,
    providerMessageId: null,
    reference: message.reference ?? null,
    ignoresSuppression: message.ignoresSuppression ?? false,
    warnings,
    safety: { ...safety },
    cold,
    countedPeriod: null,
    scheduledAt: message.scheduledAt,
    dueAt: message.scheduledAt ?? now,
    waitingSince: null,
    heldBy: null,
    nextAttemptAt: null,
    attempts: 0,
    handedAt: null,
    leaseToken: null,
    leaseUntil: null,
    acceptedAt: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    cancelledAt: null,
    createdAt: now,
    updatedAt: now,
  }
}
