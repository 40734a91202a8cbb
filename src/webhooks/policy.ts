// Pure rules of deliveries: the meaning of a response, and the time of the next attempt.
import type { PostOutcome } from '../core/network/egress.ts'
import type { EgressFault } from '../core/network/egress-fault.ts'

/** Number of attempts made automatically. */
export const automaticAttempts = 5
/** Duration of the lease on an attempt in ms. It is renewed while the attempt lasts. */
export const leaseMs = 9_000
/** How long the previous secret also signs after a rotation. */
export const previousSecretHours = 24
/** How long deliveries are kept and can be redelivered. */
export const retentionDays = 30

export type DeliveryFault =
  | EgressFault
  | 'unexpected_status'
  | 'redirect_refused'
  | 'endpoint_disabled'
  | 'endpoint_deleted'
  | 'secret_unreadable'

const words: Record<DeliveryFault, string> = {
  blocked_address: 'The address of the endpoint is in a private network.',
  name_not_resolved: 'The name of the endpoint has no address.',
  connect_failed: 'No connection could be made.',
  connection_lost: 'The connection ended before the answer.',
  timeout: 'The answer took too long.',
  interrupted: 'The gateway stopped during the attempt.',
  tls_self_signed: 'The certificate of the endpoint is self-signed.',
  tls_expired: 'The certificate of the endpoint has expired.',
  tls_wrong_host: 'The certificate of the endpoint is for another name.',
  tls_failed: 'The encrypted connection could not be made.',
  headers_too_large: 'The headers of the answer are too large.',
  bad_response: 'The answer is not valid HTTP.',
  unexpected_status: 'The endpoint answered with a status other than 2xx.',
  redirect_refused: 'The endpoint answered with a redirect, which is not followed.',
  endpoint_disabled: 'The endpoint was disabled.',
  endpoint_deleted: 'The endpoint was deleted.',
  secret_unreadable: 'The secret of the endpoint cannot be decrypted on this server; rotate it.',
}

/** A fault as a sentence. */
export function faultInWords(fault: string): string {
  return words[fault as DeliveryFault] ?? fault
}

export interface Verdict {
  delivered: boolean
  responseCode: number | null
  error: DeliveryFault | null
  /** True if the receiver says that it is gone for good (410). */
  gone: boolean
  /** The delay that a busy receiver asks for (`Retry-After` of a 429 or 503). */
  retryAfterMs: number | undefined
}

/** Judges the outcome of an attempt. Only a 2xx is a success. */
export function judge(outcome: PostOutcome | { outcome: 'error'; reason: 'secret_unreadable' }): Verdict {
  if (outcome.outcome === 'error') {
    return { delivered: false, responseCode: null, error: outcome.reason, gone: false, retryAfterMs: undefined }
  }
  const { status } = outcome
  const delivered = status >= 200 && status < 300
  return {
    delivered,
    responseCode: status,
    error: delivered ? null : status >= 300 && status < 400 ? 'redirect_refused' : 'unexpected_status',
    gone: status === 410,
    retryAfterMs: status === 429 || status === 503 ? outcome.retryAfterMs : undefined,
  }
}

/**
 * Milliseconds from one attempt to the next: exponential backoff from the base by a factor of 10, with a jitter of ±20 %. The
 * Retry-After of a busy receiver can extend the delay to twice the nominal one at most.
 * @param made automatic attempts so far
 */
export function gapMs(made: number, baseMs: number, retryAfterMs?: number, random: () => number = Math.random): number {
  const nominal = baseMs * 10 ** (Math.max(made, 1) - 1)
  const gap = nominal * (0.8 + 0.4 * random())
  return retryAfterMs === undefined ? gap : Math.min(Math.max(retryAfterMs, gap), 2 * nominal)
}

/** The `disabledReason` of an endpoint that exceeds the plan. */
export const overThePlan = 'over_the_plan'
