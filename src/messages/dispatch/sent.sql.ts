// SQL of messages that a network already has.
import type { Sql } from '../../core/database/database.ts'
import type { OutgoingMessage } from '../../providers/outgoing.ts'

/** A message that an instance sent, by the provider's id; undefined if it is not stored any more. */
export async function readSent(sql: Sql, instanceId: string, providerMessageId: string): Promise<OutgoingMessage | undefined> {
  const { rows } = await sql.query<OutgoingMessage>({
    name: 'messages.sent',
    text: `select id as "messageId", "to", type, body, "mediaUrl", content, template from messages
      where "instanceId" = $1 and "providerMessageId" = $2 and direction = 'outbound'`,
    values: [instanceId, providerMessageId],
  })
  return rows[0]
}
