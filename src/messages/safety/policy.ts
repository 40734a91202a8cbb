// Pure rules of a message on its way out: what to do with its job, and when to try again.
import type { MessageStatus } from '../../generated/prisma/client.ts'

/** Longest wait for a provider's answer; shorter than the lease, so that an answer never comes to one who lost it. */
export const sendTimeoutMs = 8_000
/** How long a claimed message is its worker's alone. Shorter than pg-boss's least heartbeat, so that a retry finds it over. */
export const leaseMs = 9_000
const maxAttempts = 12

export interface OpenMessage {
  status: MessageStatus
  dueAt: Date
  nextAttemptAt: Date | null
  leaseToken: string | null
  leaseUntil: Date | null
  acceptedAt: Date | null
  /** How often it was claimed. */
  attempts: number
  /** Whether an earlier message to the same recipient is still on its way to the provider. */
  blocked: boolean
  instanceDeleted: boolean
  instanceConnected: boolean
  /** Whether the provider takes our reference, so that offering again is safe. */
  sendsOnce: boolean
  /** How long a receipt may still tell what became of a send whose answer was lost. */
  reconcileMs: number
}

export type Decision =
  | { do: 'send' }
  | { do: 'nothing' }
  /** Until its instance connects, but not longer. */
  | { do: 'wait'; until: Date }
  /** Until the messages before it to the same recipient have left. */
  | { do: 'follow' }
  | { do: 'later'; at: Date }
  | { do: 'fail'; error: string }

/** What to do with the job of a message, at the database's `now`. */
export function decide(message: OpenMessage, now: Date, ttlMs: number): Decision {
  const { status, leaseUntil, dueAt, nextAttemptAt } = message
  if ((status !== 'queued' && status !== 'sending') || message.acceptedAt) return { do: 'nothing' }
  if (message.leaseToken && leaseUntil) {
    if (leaseUntil > now) return { do: 'later', at: leaseUntil }
    if (!message.sendsOnce || message.attempts >= maxAttempts) {
      // Taken or not, nobody knows: only a receipt may tell, and it has this long to. One that broke every worker that
      // claimed it is not claimed for ever.
      const until = new Date(leaseUntil.getTime() + message.reconcileMs)
      return until > now ? { do: 'later', at: until } : { do: 'fail', error: 'UNKNOWN_OUTCOME' }
    }
  }
  if (message.instanceDeleted) return { do: 'fail', error: 'INSTANCE_DELETED' }
  if (dueAt > now) return { do: 'later', at: dueAt }
  const until = new Date(dueAt.getTime() + ttlMs)
  if (until <= now) return { do: 'fail', error: 'EXPIRED' }
  if (nextAttemptAt && nextAttemptAt > now) return { do: 'later', at: nextAttemptAt }
  if (!message.instanceConnected) return { do: 'wait', until }
  return message.blocked ? { do: 'follow' } : { do: 'send' }
}

/** Milliseconds until a message looks again whether the one before it has left, as the n-th (0) of a batch that waits for it. */
export function followDelayMs(n: number): number {
  return 250 + 5 * n
}

/** Milliseconds until the next try after `attempts` tries, or null when it was the last: 1 s doubling to 5 min, ±20 %. */
export function retryDelayMs(attempts: number, afterMs: number | undefined, random: () => number = Math.random): number | null {
  if (attempts >= maxAttempts) return null
  if (afterMs !== undefined) return Math.min(afterMs, 3_600_000)
  return Math.min(300_000, 1_000 * 2 ** (attempts - 1)) * (0.8 + 0.4 * random())
}
