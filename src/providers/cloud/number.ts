// A number as Meta describes it: its phone number, if it is registered, and the standing of its account.
import type { App } from '../../core/app.ts'
import { noDailyBound, type StateChange } from '../reports.ts'
import { reasonOf, verdictOn } from './errors.ts'
import { type GraphAnswer, type GraphError, graph } from './graph.ts'
import { type Fields, fieldsOf } from './values.ts'

const fields = [
  'id',
  'display_phone_number',
  'verified_name',
  'quality_rating',
  'status',
  'platform_type',
  'whatsapp_business_manager_messaging_limit',
  'health_status',
].join(',')

/** The part of the settings that reads need. */
export interface Access {
  phoneNumberId: string
  accessToken: string
}

export async function readNumber(app: App, { phoneNumberId, accessToken }: Access): Promise<GraphAnswer> {
  return await graph(app).call({ method: 'GET', path: phoneNumberId, query: { fields }, accessToken })
}

/** The number in E.164; undefined if Meta shows none. */
export function waNumberOf({ display_phone_number: shown }: Fields): string | undefined {
  const digits = typeof shown === 'string' ? shown.replace(/\D/g, '') : ''
  return digits === '' ? undefined : `+${digits}`
}

export function isUnregistered({ status, platform_type: platform }: Fields): boolean {
  return status === 'PENDING' || platform === 'NOT_APPLICABLE'
}

const restricting = new Set(['RED', 'RESTRICTED', 'BLOCKED', 'BANNED'])
const risky = new Set(['YELLOW', 'LIMITED', 'FLAGGED'])

/** The beginning of the words for a restriction. */
export const restrictedWords = 'Meta restricts the number: '

type Standing = Pick<StateChange, 'restricted' | 'atRisk' | 'dailyRecipients' | 'meta'>

/** The standing of the account, and the words for a restriction. A restriction is followed by a time of risk. */
export function standingOf(number: Fields): Standing & { error?: string } {
  const signals = {
    quality_rating: textOf(number.quality_rating),
    status: textOf(number.status),
    can_send_message: textOf(fieldsOf(number.health_status).can_send_message),
  }
  const limit = textOf(number.whatsapp_business_manager_messaging_limit)
  const restriction = Object.entries(signals).find(([, value]) => restricting.has(value ?? ''))
  const meta = {
    verifiedName: textOf(number.verified_name),
    qualityRating: signals.quality_rating,
    status: signals.status,
    canSendMessage: signals.can_send_message,
    messagingLimit: limit,
  }
  return {
    meta,
    dailyRecipients: limit === null ? undefined : recipientsOf(limit),
    atRisk: restriction !== undefined || Object.values(signals).some((value) => risky.has(value ?? '')),
    ...(restriction && { restricted: true, error: `${restrictedWords}${restriction.join(' is ')}` }),
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** `TIER_250`, `TIER_1K`, `TIER_UNLIMITED` and their like; undefined for anything else. */
export function recipientsOf(limit: string): number | undefined {
  if (limit === 'TIER_UNLIMITED') return noDailyBound
  const [, number, thousands] = /^TIER_(\d{1,6})(K?)$/.exec(limit) ?? []
  return number === undefined ? undefined : Number(number) * (thousands ? 1000 : 1)
}

/** The words before those of Meta, where the id of a setting names nothing that the token can read. */
export const unknownNumber = 'the accessToken has no number with this phoneNumberId: '
export const unknownAccount = 'the accessToken has no business account with this businessAccountId: '

/** An app of Meta may be set to refuse each call without a proof by the same code, whatever the id. */
function isWrongId({ code, words }: GraphError): boolean {
  return code === 100 && !words.includes('appsecret_proof')
}

/** The words for an answer that is no success, for `lastError`. `unknown` are the words before those about a wrong id. */
export function wordsFor(
  answer: Exclude<GraphAnswer, { is: 'done' }>,
  secrets: readonly (string | undefined)[],
  unknown = '',
): string {
  switch (answer.is) {
    case 'error':
      return (isWrongId(answer) ? unknown : '') + reasonOf(answer.code, answer.words, secrets, answer.subcode)
    case 'bare':
      return `Meta answered with HTTP ${answer.status}`
    case 'unreached':
      return 'Meta could not be reached'
    case 'lost':
      return 'Meta did not answer'
  }
}

/** True if the same call may succeed later. For calls that may be repeated: a lost answer of a message is another matter. */
export function isLater(answer: Exclude<GraphAnswer, { is: 'done' }>): boolean {
  if (answer.is === 'bare') return answer.status === 429 || answer.status === 408
  if (answer.is !== 'error') return true
  const { is } = verdictOn(answer)
  return is === 'later' || is === 'few' || answer.code === 133_004
}
