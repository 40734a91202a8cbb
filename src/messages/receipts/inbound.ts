// Stores inbound messages with their events. Deduplicates by the provider's message id.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { newId } from '../../core/id.ts'
import { emit } from '../../events/log/emit.ts'
import type { InboundMessage } from '../../providers/provider.ts'
import { messageReceived } from '../events.ts'

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
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", direction, type, "from", "to", peer, body, status,
          "providerMessageId", safety, "createdAt", "updatedAt")
        select u.id, i."workspaceId", i."userId", i.id, c.id, 'inbound', u.type, u.sender, coalesce(i."waNumber", ''), u.sender, u.body,
          'received', u.provider, $7, now(), now()
        from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::message_type[], $6::text[]) as u(id, instance, provider, sender, type, body)
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
        inboundSafety,
      ],
    )
    const at = new Map(messages.map((message) => [message.providerMessageId, message.at]))
    await emit(
      tx,
      rows.map(({ id, workspaceId, ...row }) => {
        const fields = { messageId: id, ...row, status: 'received' as const }
        return messageReceived.event(fields, { workspaceId, at: at.get(row.providerMessageId) ?? new Date() })
      }),
    )
  })
  app.signals.emit('outbox')
}
