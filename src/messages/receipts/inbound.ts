// Stores inbound messages with their events. Deduplicates by the provider's message id.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { emit } from '../../events/log/emit.ts'
import type { InboundMessage } from '../../providers/provider.ts'
import { insertInbound } from './inbound.sql.ts'

/** Stores new messages with their events, in one transaction. */
export async function receiveMessages(app: App, messages: readonly InboundMessage[]): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const rows = await insertInbound(tx, messages)
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
