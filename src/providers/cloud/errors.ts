// The table of the Graph API's error codes: for each, the reason that we give, and what becomes of a message that met it.
import { optedOut } from '../outgoing.ts'
import type { GraphError } from './graph.ts'

/** The messages that wait with one: those to the same recipient, of the same number, or of the same business account. */
export type Holds = 'recipient' | 'instance' | 'account'

export type Verdict =
  | { is: 'refused'; error: string; restricted?: boolean }
  /** The token or its permissions: nothing can be sent for the number before they change. */
  | { is: 'auth' }
  /** Asks for the same again, a few times. */
  | { is: 'few' }
  | Later

/** Asks to wait, first `firstMs` and then `factor` times as long at every further answer, at most `mostMs`. */
export interface Later {
  is: 'later'
  holds: Holds
  firstMs: number
  factor: number
  mostMs: number
}

const refused = (error: string): Verdict => ({ is: 'refused', error })
const restrictedError = 'ACCOUNT_RESTRICTED'
const restricted: Verdict = { is: 'refused', error: restrictedError, restricted: true }
const auth: Verdict = { is: 'auth' }
const few: Verdict = { is: 'few' }
const later = (holds: Holds, firstMs: number, factor = 2, mostMs = 300_000): Later => {
  return { is: 'later', holds, firstMs, factor, mostMs }
}

/** Meta cannot be reached, or its servers ask everybody to wait. */
export const unavailable = later('instance', 1_000)

interface Row {
  verdict: Verdict
  /** Used where Meta gives no words. */
  words: string
}

const rows: Readonly<Record<number, Row>> = {
  0: { verdict: auth, words: 'the access token was refused' },
  1: { verdict: few, words: 'an unknown error of the API' },
  2: { verdict: unavailable, words: 'the service is down' },
  3: { verdict: refused('PROVIDER_ERROR'), words: 'the app lacks a capability' },
  4: { verdict: later('account', 2_000), words: 'too many calls of the app' },
  10: { verdict: auth, words: 'the access token lacks a permission' },
  33: { verdict: refused('PROVIDER_ERROR'), words: 'the number was deleted' },
  100: { verdict: refused('PROVIDER_ERROR'), words: 'a parameter is invalid' },
  190: { verdict: auth, words: 'the access token was refused' },
  368: { verdict: restricted, words: 'the account is blocked for a violation of policy' },
  80007: { verdict: later('account', 2_000), words: 'too many calls of the business account' },
  130429: { verdict: later('instance', 1_000), words: 'the throughput of the number was reached' },
  130472: { verdict: refused('NOT_DELIVERED_BY_POLICY'), words: 'the recipient is part of an experiment' },
  130497: { verdict: restricted, words: 'the account may not write to this country' },
  131000: { verdict: few, words: 'something went wrong at Meta' },
  131005: { verdict: refused('PROVIDER_ERROR'), words: 'access denied' },
  131008: { verdict: refused('PROVIDER_ERROR'), words: 'a parameter is missing' },
  131009: { verdict: refused('PROVIDER_ERROR'), words: 'the value of a parameter is invalid' },
  131016: { verdict: unavailable, words: 'the service is overloaded' },
  131021: { verdict: refused('PROVIDER_ERROR'), words: 'sender and recipient are the same number' },
  131026: { verdict: refused('RECIPIENT_NOT_FOUND'), words: 'the message cannot be delivered to this number' },
  131031: { verdict: restricted, words: 'the account is locked' },
  131037: { verdict: refused('PROVIDER_ERROR'), words: 'the display name of the number is not approved' },
  131042: { verdict: refused('PROVIDER_ERROR'), words: 'a problem with the payment method' },
  131045: { verdict: refused('PROVIDER_ERROR'), words: 'a problem with the certificate of the number' },
  131047: { verdict: refused('OUTSIDE_WINDOW'), words: 'more than 24 hours since the recipient last wrote' },
  131048: { verdict: restricted, words: 'too many earlier messages were blocked or reported' },
  131049: { verdict: refused('NOT_DELIVERED_BY_POLICY'), words: 'withheld to keep the ecosystem healthy' },
  131050: { verdict: refused(optedOut), words: 'the recipient wants no marketing messages' },
  131051: { verdict: refused('UNSUPPORTED_TYPE'), words: 'this type of message is not supported' },
  131052: { verdict: refused('MEDIA_REJECTED'), words: 'the file could not be downloaded' },
  131053: { verdict: refused('MEDIA_REJECTED'), words: 'the file could not be uploaded' },
  131056: { verdict: later('recipient', 1_000, 4, 256_000), words: 'too many messages to this number' },
  131057: { verdict: later('instance', 60_000, 1), words: 'the number is under maintenance' },
  132000: { verdict: refused('TEMPLATE_REJECTED'), words: 'the template takes another number of values' },
  132001: { verdict: refused('TEMPLATE_REJECTED'), words: 'no approved template has this name and language' },
  132005: { verdict: refused('TEMPLATE_REJECTED'), words: 'the text of the template becomes too long' },
  132007: { verdict: refused('TEMPLATE_REJECTED'), words: 'the content violates the policy of templates' },
  132012: { verdict: refused('TEMPLATE_REJECTED'), words: 'a value of the template has the wrong form' },
  132015: { verdict: refused('TEMPLATE_REJECTED'), words: 'the template is paused for its quality' },
  132016: { verdict: refused('TEMPLATE_REJECTED'), words: 'the template is disabled for its quality' },
  132068: { verdict: refused('TEMPLATE_REJECTED'), words: 'the flow is blocked' },
  132069: { verdict: later('recipient', 1_000), words: 'the flow is throttled' },
  133004: { verdict: refused('PROVIDER_ERROR'), words: 'the server is unavailable' },
  133005: { verdict: refused('PROVIDER_ERROR'), words: 'the pin is wrong' },
  133006: { verdict: refused('PROVIDER_ERROR'), words: 'the number has to be verified again' },
  133008: { verdict: refused('PROVIDER_ERROR'), words: 'too many wrong pins' },
  133009: { verdict: refused('PROVIDER_ERROR'), words: 'the pin was entered too fast' },
  133010: { verdict: refused('PROVIDER_ERROR'), words: 'the number is not registered' },
  133015: { verdict: refused('PROVIDER_ERROR'), words: 'the number was deleted a moment ago' },
  133016: { verdict: refused('PROVIDER_ERROR'), words: 'registered too often' },
  134011: { verdict: refused('PROVIDER_ERROR'), words: 'the terms of payments were not accepted' },
  135000: { verdict: refused('PROVIDER_ERROR'), words: 'a parameter of the message is wrong' },
}

/** The verdict on a message, or on another call, that got this code. */
export function verdictOf(code: number): Verdict {
  const row = rows[code]
  if (row) return row.verdict
  if (code >= 200 && code <= 299) return auth
  return refused(code >= 132_000 && code <= 132_999 ? 'TEMPLATE_REJECTED' : 'PROVIDER_ERROR')
}

/** A request to wait whose code does not say who is to wait: nobody but those with the same recipient. */
const unnamed = later('recipient', 1_000)

/** {@link verdictOf} for an answer, which may ask to wait with a code that is not in the table. */
export function verdictOn({ code, status, retryAfterMs }: Pick<GraphError, 'code' | 'status' | 'retryAfterMs'>): Verdict {
  const verdict = verdictOf(code)
  if (rows[code] || verdict.is === 'auth') return verdict
  return status === 429 || retryAfterMs !== undefined ? unnamed : verdict
}

/** True if Meta does not take the token at all. Other codes of its permissions may leave it good for sending. */
export function isRefusedToken(code: number): boolean {
  return code === 0 || code === 190
}

const mostCharacters = 500

/** Meta's words without `secrets`, which they may repeat from the request, and at most 500 characters of them. */
export function wordsOf(words: string, secrets: readonly (string | undefined)[]): string {
  let said = words
  for (const secret of secrets) if (secret) said = said.replaceAll(secret, '…')
  return [...said.trim()].slice(0, mostCharacters).join('')
}

/** Meta's subcode of a token whose time is over. */
const expired = 463

/**
 * The reason in Meta's words ({@link wordsOf}), or else in ours, with the code. A refused token is told in our words alone.
 */
export function reasonOf(code: number, words: string, secrets: readonly (string | undefined)[], subcode?: number): string {
  if (code === 190 && subcode === expired) return `the access token has expired (${code})`
  const verdict = verdictOf(code)
  const own = rows[code]?.words ?? (verdict.is === 'auth' ? 'the access token lacks a permission' : 'refused by Meta')
  const said = verdict.is === 'auth' ? '' : wordsOf(words, secrets)
  return `${said || own} (${code})`
}

/** True for the reason of a message that was refused because the account is restricted. */
export function isRestriction(reason: string): boolean {
  const verdict = verdictOf(Number(/ \((\d+)\)$/.exec(reason)?.[1]))
  return reason === restrictedError || (verdict.is === 'refused' && verdict.restricted === true)
}

/** The error of a message that Meta reports as failed, which is final whatever the code says of another try. */
export function failureOf(
  code: number,
  words: string,
  secrets: readonly (string | undefined)[],
): { error: string; detail: string; restricted: boolean } {
  const verdict = verdictOf(code)
  const error = verdict.is === 'refused' ? verdict.error : verdict.is === 'auth' ? 'AUTH_INVALID' : 'PROVIDER_ERROR'
  return { error, detail: reasonOf(code, words, secrets), restricted: verdict.is === 'refused' && verdict.restricted === true }
}
