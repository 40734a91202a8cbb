// Sends messages through Meta's Cloud API, and decides from the answer what becomes of each: accepted, refused, later, or unknown.
import type { App } from '../../core/app.ts'
import { inTime } from '../../core/time-limit.ts'
import type { OutgoingMessage, SendOutcome } from '../outgoing.ts'
import { storeAddress } from './addresses.sql.ts'
import { bodyOf, type FileReference } from './bodies.ts'
import { type Later, reasonOf, unavailable, verdictOn } from './errors.ts'
import { type GraphAnswer, type GraphError, graph } from './graph.ts'
import { createMedia, tooSlow } from './media.ts'
import { type CloudInstance, secretsOf } from './settings.ts'
import { refuseToken } from './token.ts'
import { type Fields, fieldsOf, listOf } from './values.ts'
import { createWaits } from './waits.ts'

/** Tries of a message that met a general error. */
const fewTries = 5
/** Codes of parameters and of files: the file may be at fault, or Meta may have lost its upload. */
const fileCodes: ReadonlySet<number> = new Set([100, 131008, 131009, 131052, 131053])

/** Longest wait for a report on an answer of Meta, which goes on: a silent database must not use up the 8 s of a message. */
const reportMs = 2_000

type Retry = SendOutcome & { outcome: 'retry' }

export function createSend(app: App) {
  const media = createMedia(app)
  const waits = createWaits()
  /** Meta's answer decides, even if a report on it fails. */
  const reported = <T>(report: Promise<T>) =>
    inTime(reportMs, report, tooSlow).catch((error: Error) =>
      app.log.warn({ err: error.message }, 'an answer of Meta could not be reported'),
    )

  async function send(instance: CloudInstance, message: OutgoingMessage): Promise<SendOutcome> {
    const { phoneNumberId, accessToken } = instance.settings
    let file: FileReference | undefined
    try {
      const resolved = await media.resolve(instance, message)
      if ('outcome' in resolved) return resolved.outcome
      if ('answer' in resolved) return await outcomeOfUpload(instance, message, resolved.answer)
      file = resolved.file
    } catch (error) {
      // Nothing was sent yet.
      app.log.warn({ instanceId: instance.id, err: (error as Error).message }, 'the file of a message could not be read')
      return { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE' }
    }
    const json = bodyOf(message, file)
    const answer = await graph(app).call({ method: 'POST', path: `${phoneNumberId}/messages`, accessToken, json })
    const outcome = await outcomeOf(instance, message, answer)
    if (outcome.outcome === 'accepted') for (const key of keysOf(instance, message)) waits.end(key)
    const address = answer.is === 'done' ? addressIn(answer.body) : undefined
    if (address && address !== message.to) await reported(storeAddress(app.pool, instance.id, message.to, address))
    if (answer.is === 'error' && fileCodes.has(answer.code)) await reported(media.forget(instance, message, file))
    return outcome
  }

  async function outcomeOf(instance: CloudInstance, message: OutgoingMessage, answer: GraphAnswer): Promise<SendOutcome> {
    switch (answer.is) {
      case 'done': {
        const providerMessageId = idIn(answer.body)
        return providerMessageId ? { outcome: 'accepted', providerMessageId } : lost
      }
      case 'lost':
        return lost
      case 'unreached':
        return wait(instance, message, unavailable, 'Meta could not be reached', undefined)
      case 'bare': {
        const detail = `HTTP ${answer.status} without an error of the Graph API`
        if (answer.status === 429) return wait(instance, message, unavailable, detail, answer.retryAfterMs)
        // A proxy may have given up on an answer that was on its way.
        return answer.status === 408 ? lost : { outcome: 'refused', error: 'PROVIDER_ERROR', detail }
      }
      case 'error':
        return await outcomeOfError(instance, message, answer)
    }
  }

  /** Without its file the message was not sent, so a lost answer changes nothing. */
  async function outcomeOfUpload(instance: CloudInstance, message: OutgoingMessage, answer: GraphAnswer): Promise<SendOutcome> {
    const outcome = await outcomeOf(instance, message, answer)
    const isRejected = outcome.outcome === 'refused' && answer.is === 'error' && fileCodes.has(answer.code)
    return isRejected ? { ...outcome, error: 'MEDIA_REJECTED' } : outcome
  }

  async function outcomeOfError(instance: CloudInstance, message: OutgoingMessage, answer: GraphError): Promise<SendOutcome> {
    const verdict = verdictOn(answer)
    const detail = reasonOf(answer.code, answer.words, secretsOf(instance.settings), answer.subcode)
    switch (verdict.is) {
      case 'auth':
        // The message that met it fails. Others that were under way together wait for the next connect, as all later ones do.
        return (await reported(refuseToken(app, instance, detail)))
          ? { outcome: 'refused', error: 'AUTH_INVALID', detail }
          : again
      case 'few':
        return (message.attempt ?? 1) < fewTries
          ? { outcome: 'retry', error: 'PROVIDER_ERROR', detail, afterMs: answer.retryAfterMs }
          : { outcome: 'refused', error: 'PROVIDER_ERROR', detail }
      case 'later':
        return wait(instance, message, verdict, detail, answer.retryAfterMs)
      case 'refused':
        return { outcome: 'refused', error: verdict.error, detail, restricted: verdict.restricted }
    }
  }

  function wait(
    instance: CloudInstance,
    message: OutgoingMessage,
    verdict: Later,
    detail: string,
    retryAfterMs: number | undefined,
  ): Retry {
    const { businessAccountId } = instance.settings
    const [recipient, number, account] = keysOf(instance, message)
    const { holds } = verdict
    const key = holds === 'recipient' ? recipient : holds === 'account' ? account : number
    const afterMs = waits.next(key, verdict, retryAfterMs)
    const later = { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', detail, afterMs } as const
    return { ...later, holds: holds === 'account' ? { of: holds, account: businessAccountId } : { of: holds } }
  }

  return send
}

const lost: SendOutcome = { outcome: 'unknown', error: 'UNKNOWN_OUTCOME', detail: 'the answer of Meta was lost' }
const again: SendOutcome = { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: 0, offline: true }

/** Anybody can name a business account, but only those who know its app secret share its waits. */
function keysOf({ id, settings }: CloudInstance, { to }: OutgoingMessage): [recipient: string, number: string, account: string] {
  return [`${id} ${to}`, id, `${settings.businessAccountId} ${settings.appSecret}`]
}

function idIn({ messages }: Fields): string | undefined {
  const { id } = fieldsOf(listOf(messages)[0])
  return typeof id === 'string' ? id : undefined
}

/** The recipient's number as Meta writes it, E.164. */
function addressIn({ contacts }: Fields): string | undefined {
  const { wa_id: digits } = fieldsOf(listOf(contacts)[0])
  return typeof digits === 'string' && /^\d{5,15}$/.test(digits) ? `+${digits}` : undefined
}
