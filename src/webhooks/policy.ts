// Pure rules of deliveries: what an answer means, and when the next attempt is due.
import type { EgressFault, PostOutcome } from '../core/network/egress.ts'

/** Attempts that are made without being asked for. */
export const automaticAttempts = 5
/** How long an attempt is its process's alone; renewed while it lasts. */
export const leaseMs = 9_000
/** How long the secret before a rotation goes on signing. */
export const previousSecretHours = 24
/** How long deliveries are kept, and can be asked for again. */
export const retentionDays = 30

export type DeliveryFault =
  | EgressFault
  | 'unexpected_status'
  | 'redirect_refused'
  | 'endpoint_disabled'
  | 'endpoint_deleted'
  | 'secret_unreadable'

export interface Verdict {
  delivered: boolean
  responseCode: number | null
  error: DeliveryFault | null
  /** The receiver says that it is gone for good. */
  gone: boolean
  /** How long a busy receiver asks to be left alone. */
  retryAfterMs: number | undefined
}

/** What came of an attempt: only a 2xx counts. */
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
 * Milliseconds from one attempt to the next: the base, ten times longer each time, ±20 %. A busy receiver's Retry-After
 * can stretch that to twice as long.
 * @param made automatic attempts so far
 */
export function gapMs(made: number, baseMs: number, retryAfterMs?: number, random: () => number = Math.random): number {
  const nominal = baseMs * 10 ** (Math.max(made, 1) - 1)
  const gap = nominal * (0.8 + 0.4 * random())
  return retryAfterMs === undefined ? gap : Math.min(Math.max(retryAfterMs, gap), 2 * nominal)
}
