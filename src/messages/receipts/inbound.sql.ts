// SQL of inbound messages.
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import type { InboundMessage } from '../../providers/reports.ts'

export interface InboundRow {
  id: string
  workspaceId: string
  instanceId: string
  providerMessageId: string
  from: string
  to: string
  type: string
  body: string
  /** True if the network has a file for it that is not fetched yet. */
  awaitsFile: boolean
}

const inboundSafety = JSON.stringify({ decision: 'allow', riskLevel: 'low', state: 'stable', score: 100 })

/**
 * Inserts the messages that are new, by the unique index of instance and provider's id. Locks their contacts FOR KEY SHARE, so that these
 * are not deleted before the commit. The content of a message keeps what the provider needs to fetch its file, and when a late one was written.
 */
export async function insertInbound(tx: Sql, messages: readonly InboundMessage[]): Promise<InboundRow[]> {
  const { rows } = await tx.query<InboundRow>(
    `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", direction, type, "from", "to", peer, body, content, "mediaUrl", status,
        "providerMessageId", safety, "createdAt", "updatedAt")
      select u.id, i."workspaceId", i."userId", i.id, c.id, 'inbound', u.type, u.sender, coalesce(i."waNumber", ''), u.sender, u.body,
        u.content, u.media, 'received', u.provider, $9, now(), now()
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::message_type[], $6::text[], $7::jsonb[],
          $8::text[])
        as u(id, instance, provider, sender, type, body, content, media)
      join instances i on i.id = u.instance and i."deletedAt" is null
      left join lateral (select id from contacts where "workspaceId" = i."workspaceId" and phone = u.sender for key share) c on true
      on conflict ("instanceId", "providerMessageId") do nothing
      returning id, "workspaceId", "instanceId", "providerMessageId", "from", "to", type, body,
        content ? 'media' and "mediaUrl" is null as "awaitsFile"`,
    [
      messages.map(() => newId()),
      messages.map((message) => message.instanceId),
      messages.map((message) => message.providerMessageId),
      messages.map((message) => message.from),
      messages.map((message) => message.type),
      messages.map((message) => message.body),
      messages.map(({ content, media, at }) => JSON.stringify({ ...content, media, writtenAt: ifLate(at) })),
      messages.map(({ media }) => media?.url ?? null),
      inboundSafety,
    ],
  )
  return rows
}

const lateMs = 60_000

/** The time at which a message was written, if that is not about now: networks hand over messages up to a week later. */
function ifLate(at: Date): Date | undefined {
  return Date.now() - at.getTime() > lateMs ? at : undefined
}

/** True if the network gave the instance an inbound message under this id. */
export async function isReceived(sql: Sql, instanceId: string, providerMessageId: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'inbound.received',
    text: `select from messages where "instanceId" = $1 and "providerMessageId" = $2 and direction = 'inbound'`,
    values: [instanceId, providerMessageId],
  })
  return (rowCount ?? 0) > 0
}
