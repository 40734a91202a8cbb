// Takes a decrypted stanza as an inbound message, and stores it before the network learns that it arrived.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { timeOf } from '../given-values.ts'
import type { InboundMessage } from '../reports.ts'
import { userOf } from './address.ts'
import type { HeldLease } from './auth-state.ts'
import { chosenOption } from './buttons.ts'
import { handedOver } from './handed-over.ts'
import type { Host } from './host.ts'
import { contentFrom } from './inbound-content.ts'
import { readNumbersAt } from './numbers.sql.ts'
import type { WhatsApp } from './package.ts'
import { isLeftAlone } from './socket.ts'
import type { Decrypted, InboundStore } from './store-first.ts'

export interface ReceiveOptions {
  app: App
  host: Host
  lease: HeldLease
  whatsApp: Pick<WhatsApp, 'proto'>
  signal: AbortSignal
  /** True for an address of the account itself. */
  isOwn: (jid: string) => boolean
  /** Tells the network that a message was read. */
  markRead: (from: string, stanzaId: string) => Promise<unknown>
}

const retryMs = 500

export function receiveFrom({ app, host, lease, whatsApp, signal, isOwn, markRead }: ReceiveOptions): InboundStore {
  async function add(decrypted: Decrypted): Promise<void> {
    const { category, from = '' } = decrypted.attrs
    if (category !== 'peer') return await addOne(decrypted)
    if (isOwn(from)) for (const one of handedOver(whatsApp, decrypted)) await addOne(one)
  }

  async function addOne(decrypted: Decrypted): Promise<void> {
    const message = await store(decrypted)
    if (!message) return
    const instance = await host.instance(lease.instanceId)
    if (instance?.settings.markRead) {
      // Not awaited: it needs the connection, which waits for this message.
      markRead(message.from, message.providerMessageId).catch((err: Error) =>
        app.log.warn({ instanceId: lease.instanceId, err: err.message }, 'a message was not marked as read'),
      )
    }
  }

  /** Stores it as soon as the database lets it; undefined for what is no message to us. */
  async function store(decrypted: Decrypted): Promise<InboundMessage | undefined> {
    for (;;) {
      try {
        const message = await inboundOf(app, lease.instanceId, decrypted, isOwn)
        if (!message) return undefined
        const alsoKnownAs = await readNumbersAt(app.pool, lease.instanceId, message.from)
        await host.inbound([{ ...message, alsoKnownAs }])
        return message
      } catch (error) {
        // The ratchet must not move before the message is stored, so that the network offers it again.
        if (signal.aborted || !lease.isHeld()) throw error
        app.log.warn({ instanceId: lease.instanceId, err: (error as Error).message }, 'an inbound message is stored later')
        await pause(retryMs, undefined, { signal })
      }
    }
  }

  async function knows(stanzaId: string, error: Error): Promise<boolean> {
    const { instanceId } = lease
    if (await host.received(instanceId, stanzaId)) return true
    app.log.warn(
      { instanceId, stanzaId, err: error.message },
      'a message could not be decrypted; its sender is asked for it again',
    )
    return false
  }

  return { add, knows }
}

/** Undefined for what is no message to us: groups, our own messages from other devices, and messages between clients. */
async function inboundOf(
  app: App,
  instanceId: string,
  { attrs, message, phoneOf }: Decrypted,
  isOwn: ReceiveOptions['isOwn'],
): Promise<InboundMessage | undefined> {
  const { from = '', id, recipient, participant } = attrs
  if (!id || recipient || isLeftAlone(from)) return undefined
  // A phone shows what somebody sent to a list of people in the chat with that person.
  const writer = from.endsWith('@broadcast') ? participant : participant ? undefined : from
  if (!writer || isOwn(writer)) return undefined
  const taken = contentFrom(message)
  if (!taken) return undefined
  const sender = await senderOf(writer, attrs, phoneOf)
  const option = taken.content.kind === 'text' ? await chosenOption(app, instanceId, sender, taken.body) : undefined
  return {
    instanceId,
    providerMessageId: id,
    from: sender,
    ...taken,
    ...(option ? { body: option.label, content: { ...taken.content, kind: 'button', buttonId: option.id } } : {}),
    media: taken.media && { ...taken.media, reference: app.sealer.seal(taken.media.reference).toString('base64') },
    at: timeOf(attrs.t),
  }
}

/** A company that also uses Meta's API writes from a device at Meta, whose address ends with `hosted` or `hosted.lid`. */
const isNumber = (jid: string | undefined) => /@(s\.whatsapp\.net|hosted)$/.test(jid ?? '')

/** E.164 where the network gives a number, by the stanza or by a mapping that it told earlier; else the LID as it stands. */
async function senderOf(writer: string, attrs: Record<string, string>, phoneOf: Decrypted['phoneOf']): Promise<string> {
  const { sender_pn: sender, participant_pn: participant } = attrs
  const lid = `${userOf(writer)}@lid`
  const jid = [writer, participant, sender].find(isNumber) ?? (await phoneOf(lid))
  return jid ? `+${userOf(jid)}` : lid
}
