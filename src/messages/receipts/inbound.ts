// Stores inbound messages with their events. Deduplicates by the provider's message id.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { newId } from '../../core/id.ts'
import { emit } from '../../events/log/emit.ts'
import type { InboundMessage } from '../../providers/provider.ts'

interface Row {
  id: string
  workspaceId: string
  instanceId: string
  providerMessageId: string
  from: string
  to: string
  type: string
  body: string
}

const inboundSafety = JSON.stringify({ decision: 'allow', riskLevel: 'low', state: 'stable', score: 100 })

/** Stores new messages in one transaction. Locks their contacts FOR KEY SHARE, so that these are not deleted before the commit. */
export async function receiveMessages(app: App, messages: readonly InboundMessage[]): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const { rows } = await tx.query<Row>(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", direction, type, "from", "to", peer, body, content, status,
          "providerMessageId", safety, "createdAt", "updatedAt")
        select u.id, i."workspaceId", i."userId", i.id, c.id, 'inbound', u.type, u.sender, coalesce(i."waNumber", ''), u.sender, u.body,
          u.content, 'received', u.provider, $8, now(), now()
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::message_type[], $6::text[], $7::jsonb[])
          as u(id, instance, provider, sender, type, body, content)
        join instances i on i.id = u.instance and i."deletedAt" is null
        left join lateral (select id from contacts where "workspaceId" = i."workspaceId" and phone = u.sender for key share) c on true
        on conflict ("instanceId", "providerMessageId") do nothing
        returning id, "workspaceId", "instanceId", "providerMessageId", "from", "to", type, body`,
      [
        messages.map(() => newId()),
        messages.map((message) => message.instanceId),
        messages.map((message) => message.providerMessageId),
        messages.map((message) => message.from),
        messages.map((message) => message.type),
        messages.map((message) => message.body),
        messages.map(contentOf),
        inboundSafety,
      ],
    )
    const at = new Map(messages.map((message) => [message.providerMessageId, message.at]))
    await emit(
      tx,
      rows.map(({ id, workspaceId, ...row }) => ({
        workspaceId,
        type: 'message.received',
        instanceId: row.instanceId,
        messageId: id,
        fields: { messageId: id, ...row, status: 'received' },
        at: at.get(row.providerMessageId) ?? new Date(),
      })),
    )
  })
  app.signals.emit('outbox')
}

/** What is stored of a message besides its text, as JSON; null for plain text. */
function contentOf({ type, replyTo, ...message }: InboundMessage): string | null {
  const buttonId = 'buttonId' in message ? message.buttonId : undefined
  const media = 'media' in message ? message.media : undefined
  const content = 'content' in message ? message.content : undefined
  if (!replyTo && !buttonId && !media && !content) return null
  return JSON.stringify({ kind: buttonId ? 'button' : type, ...content, buttonId, media, replyTo })
}
