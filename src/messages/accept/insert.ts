// Inserts new outbound messages in one statement, with their safety assessment.

import { thisMonth } from '../../billing/admission/period.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import type { Principal } from '../../core/principal.ts'
import type { Message } from '../../generated/prisma/client.ts'
import type { SafetyInstance } from '../safety/safety.ts'
import { safetyBook } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'

export interface NewMessage extends ComposedMessage {
  id: string
  principal: Pick<Principal, 'userId' | 'workspaceId'>
  instance: SafetyInstance & { waNumber: string | null }
  to: string
  scheduledAt: Date | null
  campaignId: string | null
  /** Number of recipients of the campaign. */
  campaignRecipients?: number
}

const columns = {
  id: 'uuid',
  workspaceId: 'uuid',
  userId: 'uuid',
  instanceId: 'uuid',
  contactId: 'uuid',
  campaignId: 'uuid',
  type: 'message_type',
  from: 'text',
  to: 'text',
  peer: 'text',
  body: 'text',
  mediaUrl: 'text',
  content: 'jsonb',
  warnings: 'jsonb',
  safety: 'jsonb',
  scheduledAt: 'timestamptz',
  dueAt: 'timestamptz',
  counted: 'boolean',
} as const

const names = Object.keys(columns) as (keyof typeof columns)[]
const stored = names.filter((name) => name !== 'counted' && name !== 'warnings')

const statement = `insert into messages (${stored.map((name) => `"${name}"`).join(', ')}, warnings, "countedPeriod", "createdAt", "updatedAt")
  select ${stored.map((name) => `u."${name}"`).join(', ')}, array(select jsonb_array_elements_text(u.warnings)),
    case when u.counted then ${thisMonth} end, $${names.length + 1}, $${names.length + 1}
  from unnest(${names.map((name, i) => `$${i + 1}::${columns[name]}[]`).join(', ')}) as u(${names.map((name) => `"${name}"`).join(', ')})`

/** The rows of new messages as they will be stored. `now` is the time of the transaction. */
export function composeRows(app: App, messages: readonly NewMessage[], now: Date): Message[] {
  return messages.map((message) => rowOf(app, message, now))
}

/** Inserts the rows in one statement. All rows get the `createdAt` of the first. */
export async function insertMessages(tx: Sql, rows: readonly Message[]): Promise<void> {
  if (rows.length === 0) return
  const values = names.map((name) =>
    rows.map((row) => {
      if (name === 'counted') return row.scheduledAt === null
      if (name === 'content') return row.content === null ? null : JSON.stringify(row.content)
      return name === 'warnings' || name === 'safety' ? JSON.stringify(row[name]) : row[name]
    }),
  )
  await tx.query({ name: 'messages.insert', text: statement, values: [...values, rows[0]?.createdAt] })
}

function rowOf(app: App, message: NewMessage, now: Date): Message {
  const { warnings, safety } = safetyBook(app).judge(message.instance, message.to, now, message.campaignRecipients)
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
    status: 'queued',
    error: null,
    providerMessageId: null,
    warnings,
    safety: { ...safety },
    countedPeriod: null,
    scheduledAt: message.scheduledAt,
    dueAt: message.scheduledAt ?? now,
    waitingSince: null,
    nextAttemptAt: null,
    attempts: 0,
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
