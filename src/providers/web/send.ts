// Sends a message over the connection that this process holds, and waits for the server's ack.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import type { OutgoingMessage, SendOutcome } from '../outgoing.ts'
import type { ProviderInstance } from '../provider.ts'
import { addressOf } from './address.ts'
import { composeFor } from './content.ts'
import type { Host } from './host.ts'
import { LeaseLost } from './leases.sql.ts'
import type { Ack, Live } from './live.ts'
import { MediaRejected } from './media.ts'
import { codeOfAnswer, refusal, tooMany } from './refusal.ts'
import { noteRestriction } from './restriction.ts'
import type { Session } from './session.ts'
import type { WebSettings } from './settings.ts'
import { stanzaIdOf } from './stanza-id.ts'
import { timing } from './timing.ts'

type Instance = ProviderInstance<WebSettings>

/** Longer than the time until the next try of a message whose caller has stopped to wait. */
const refusedMs = 60_000

export interface Sender {
  app: App
  host: () => Host | undefined
  session: (instanceId: string) => Session | undefined
}

export function createSend({
  app,
  host,
  session,
}: Sender): (instance: Instance, message: OutgoingMessage) => Promise<SendOutcome> {
  /**
   * Sends in progress by stanza id: a second try of the same message waits for the first. Those that were refused stay for a time, because
   * the caller may have stopped to wait before, and the message must not be sent again.
   */
  const inFlight = new Map<string, Promise<SendOutcome>>()

  return async (instance, message) => {
    const id = stanzaIdOf(message.messageId)
    const earlier = inFlight.get(id)
    if (earlier) return await earlier
    const held = session(instance.id)
    const live = held?.live()
    const knownHost = host()
    if (!held || !live || !knownHost) return away('NOT_CONNECTED')
    const waitMs = held.pacer.take(instance.settings.pace)
    if (waitMs > 0) return { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: waitMs, holds: { of: 'instance' } }
    const sending = send(knownHost, held, live, instance, message, id)
    inFlight.set(id, sending)
    let isRefused = false
    try {
      const outcome = await sending
      isRefused = outcome.outcome === 'refused'
      return outcome
    } finally {
      if (isRefused) setTimeout(() => inFlight.delete(id), refusedMs).unref()
      else inFlight.delete(id)
    }
  }

  async function send(
    host: Host,
    { lease }: Session,
    live: Live,
    instance: Instance,
    message: OutgoingMessage,
    id: string,
  ): Promise<SendOutcome> {
    const acked = live.ackOf(id, message.messageId)
    let write: () => Promise<unknown>
    try {
      write = await unlessLost(acked, compose(host, live, instance, message, id))
    } catch (error) {
      live.forget(id)
      if (error instanceof MediaRejected)
        return { outcome: 'refused', error: 'MEDIA_REJECTED', detail: error.message, byGateway: true }
      if (!live.socket.ws.isOpen) return away('CONNECTION_LOST')
      // Such as a file that could not be uploaded.
      return unprepared(message, error as Error)
    }
    try {
      await unlessLost(acked, write())
    } catch (error) {
      live.forget(id)
      // Known before the next look at the leases: from here on this process waits for the holder too.
      if (error instanceof LeaseLost) lease.heldUntil = Number.NEGATIVE_INFINITY
      else if (live.socket.ws.isOpen) return unwritten(message, error as Error)
      return away('CONNECTION_LOST')
    }
    const ack = await Promise.race([acked, pause(timing(app).ackMs, undefined, { ref: false })])
    // A later refusal is stored as a receipt, because nobody waits for it.
    if (ack === undefined) live.forget(id)
    return await outcomeOf(host, instance, id, ack)
  }

  async function compose(host: Host, live: Live, instance: Instance, message: OutgoingMessage, id: string) {
    const jid = await addressOf(app, instance.id, message.to)
    if (instance.settings.typing) await type(live, jid, message.body)
    return await composeFor({ app, host, live, instance, jid, stanzaId: id }, message)
  }

  /** The package asks for devices and keys before it writes the message. @throws the error when the message may have left. */
  function unwritten(message: OutgoingMessage, error: Error): SendOutcome {
    if (codeOfAnswer(error) === undefined) throw error
    return unprepared(message, error)
  }

  /** Nothing has left. */
  function unprepared({ messageId }: OutgoingMessage, error: Error): SendOutcome {
    const code = codeOfAnswer(error)
    app.log.warn({ messageId, code, err: error.message }, 'a message could not be prepared')
    if (code === tooMany) return slower()
    return { outcome: 'retry', error: 'PROVIDER_ERROR', detail: 'the message could not be prepared' }
  }

  function slower(): SendOutcome {
    const detail = `the network asks for a pause (${tooMany})`
    const afterMs = timing(app).tooManyMs
    return { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', detail, afterMs, holds: { of: 'instance' } }
  }

  async function outcomeOf(host: Host, instance: Instance, id: string, ack: Ack | undefined): Promise<SendOutcome> {
    if (ack === undefined) return { outcome: 'unknown', error: 'PROVIDER_TIMEOUT' }
    // The server may have taken it. The next try has the same id.
    if (ack === 'lost') return { ...away('CONNECTION_LOST'), mayHaveLeft: true }
    if (ack.error === undefined) return { outcome: 'accepted', providerMessageId: id }
    if (ack.error === tooMany) return slower()
    await noteRestriction(app, host, instance.id, ack.error)
    return { outcome: 'refused', ...refusal(ack.error) }
  }
}

/** At the end of a connection the package goes on to wait for the answers to its questions, for a minute. @throws Error then. */
async function unlessLost<T>(acked: Promise<Ack>, work: Promise<T>): Promise<T> {
  const lost = acked.then((ack) => (ack === 'lost' ? Promise.reject(new Error('the connection was lost')) : work))
  return await Promise.race([work, lost])
}

/** The message waits until a process has the connection: this one soon, or another one. */
function away(error: string): SendOutcome & { outcome: 'retry' } {
  return { outcome: 'retry', error, offline: true, holds: { of: 'connection' } }
}

/** Shows that somebody is typing, for a time that grows with the text. */
async function type({ socket }: Live, jid: string, text: string): Promise<void> {
  await socket.sendPresenceUpdate('composing', jid)
  await pause(Math.min(3_000, Math.max(800, 40 * text.length)) * (0.75 + 0.5 * Math.random()))
  await socket.sendPresenceUpdate('paused', jid)
}
