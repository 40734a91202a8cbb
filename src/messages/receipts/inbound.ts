// Stores inbound messages with their events. Deduplicates by the provider's message id.
import { lockContactsByPhone } from '../../contacts/contacts.sql.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { emit } from '../../events/log/emit.ts'
import { readSendingInstances } from '../../instances/sending.sql.ts'
import type { InboundMessage } from '../../providers/reports.ts'
import { applyKeywords } from '../../suppressions/keywords.ts'
import { acceptReplies } from '../accept/reply.ts'
import { messageReceived } from '../events.ts'
import { type InboundRow, insertInbound } from './inbound.sql.ts'
import { boundInbound } from './inbound-bounds.ts'
import { lockKeywords, readOutdated, storeKeywords } from './keywords.sql.ts'
import { fetchLater } from './media-job.ts'

/** Stores new messages with their events, in one transaction. Returns for each, in order, true if it was new. */
export async function receiveMessages(app: App, messages: readonly InboundMessage[]): Promise<boolean[]> {
  const rows = await sqlTransaction(app.pool, (tx) => receiveIn(app, tx, messages))
  app.signals.emit('outbox')
  const stored = new Set(rows.map(({ instanceId, providerMessageId }) => `${instanceId} ${providerMessageId}`))
  // A message that stands twice in the list is new once.
  return messages.map(({ instanceId, providerMessageId }) => stored.delete(`${instanceId} ${providerMessageId}`))
}

/**
 * {@link receiveMessages} for messages of many accounts. Does not wait for contacts in use, as acceptance does not (accept/look-up.ts): returns
 * the messages from these, which are not stored.
 */
export async function receiveAtOnce(app: App, messages: readonly InboundMessage[]): Promise<InboundMessage[]> {
  const mustWait = await sqlTransaction(app.pool, async (tx) => {
    const isInUse = await lockSenders(tx, messages)
    const others = messages.filter((message) => !isInUse(message))
    await receiveIn(app, tx, others)
    return messages.filter(isInUse)
  })
  app.signals.emit('outbox')
  return mustWait
}

/** Locks the contacts of the senders as {@link insertInbound} does. Returns whether the one of a message is in use, and not locked. */
async function lockSenders(tx: Sql, messages: readonly InboundMessage[]): Promise<(message: InboundMessage) => boolean> {
  const { instances } = await readSendingInstances(tx, [...new Set(messages.map(({ instanceId }) => instanceId))])
  const senders = messages.flatMap(({ instanceId, from }) => {
    const instance = instances.get(instanceId)
    return instance ? { workspaceId: instance.workspaceId, phone: from } : []
  })
  const contacts = await lockContactsByPhone(tx, senders, false)
  const inUse = new Set(contacts.filter((contact) => contact.inUse).map(({ workspaceId, phone }) => `${workspaceId} ${phone}`))
  return ({ instanceId, from }) => inUse.has(`${instances.get(instanceId)?.workspaceId} ${from}`)
}

/**
 * Stores those of the messages that are new, with their events and with what keywords among them ask for. Returns their rows. The caller
 * emits the signal `outbox` after the commit.
 */
export async function receiveIn(app: App, tx: Sql, reported: readonly InboundMessage[]): Promise<InboundRow[]> {
  const messages = reported.flatMap((message) => boundInbound(message) ?? [])
  const rows = await insertInbound(tx, messages)
  await fetchLater(app, tx, rows)
  const given = new Map(messages.map((message) => [`${message.instanceId} ${message.providerMessageId}`, message]))
  const givenOf = ({ instanceId, providerMessageId }: InboundRow) => given.get(`${instanceId} ${providerMessageId}`)
  await emit(
    tx,
    rows.map((whole) => {
      const { id, workspaceId, awaitsFile: _, ...row } = whole
      const fields = { messageId: id, ...row, status: 'received' as const }
      return messageReceived.event(fields, { workspaceId, at: givenOf(whole)?.at ?? new Date() })
    }),
  )
  const texts = rows.flatMap((row) => {
    const { at, alsoKnownAs } = givenOf(row) ?? {}
    return row.type === 'text' && at ? { ...row, at, alsoKnownAs } : []
  })
  const added = await applyKeywords(tx, texts, async (keywords) => {
    await lockKeywords(tx, keywords)
    await storeKeywords(tx, keywords)
    return await readOutdated(tx, keywords)
  })
  await acceptReplies(
    app,
    tx,
    added.flatMap(({ text, reply }) => (reply === null ? [] : [{ ...text, reply }])),
  )
  return rows
}
