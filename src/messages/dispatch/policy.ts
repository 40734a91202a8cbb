// Pure rules for dispatching a message: the decision for its job, and the retry delays.
import { hourMs } from '../../core/durations.ts'
import type { MessageStatus } from '../../generated/prisma/client.ts'

/** Timeout for a provider's answer. Shorter than the lease, so that an answer never arrives after the lease was lost. */
export const sendTimeoutMs = 8_000
/**
 * Duration of the lease on a claimed message. Shorter than the heartbeat of its job (10 s, the smallest that pg-boss accepts), so that a
 * retried job finds the lease expired.
 */
export const leaseMs = 9_000
const maxAttempts = 12
/** Time that a batch of messages waits for the network. Sends without an answer by then go on by themselves. */
export const batchWaitMs = 100
/** Sends in progress in one process, about: a slow instance gets its share of what is left of them. */
export const mostInFlight = 2_000
/** Most sends in progress that release messages of one key. */
const widest = 64

export interface OpenMessage {
  status: MessageStatus
  dueAt: Date
  nextAttemptAt: Date | null
  leaseToken: string | null
  leaseUntil: Date | null
  acceptedAt: Date | null
  /** Number of claims so far. */
  attempts: number
  /** True if an earlier attempt may have reached the network. */
  mayHaveLeft: boolean
  /** True if an earlier message to the same recipient has not been accepted by the provider yet. */
  blocked: boolean
  instanceDeleted: boolean
  instanceConnected: boolean
  /** True if the provider deduplicates by our id, so that a send with unknown outcome can be repeated. */
  sendsOnce: boolean
  /** How long a receipt may still settle a send whose answer was lost. */
  reconcileMs: number
}

export type Decision =
  | { do: 'send' }
  | { do: 'nothing' }
  /** Wait until the instance connects, at most until `until`. */
  | { do: 'defer'; until: Date }
  /** Wait until the earlier messages to the same recipient have been sent. */
  | { do: 'follow' }
  | { do: 'later'; at: Date }
  | { do: 'fail'; error: string }

/** Decides about the job of a message. `now` is the time of the database. */
export function decide(message: OpenMessage, now: Date, ttlMs: number): Decision {
  const { status, leaseUntil, dueAt, nextAttemptAt } = message
  if ((status !== 'queued' && status !== 'sending') || message.acceptedAt) return { do: 'nothing' }
  if (message.leaseToken && leaseUntil) {
    if (leaseUntil > now) return { do: 'later', at: leaseUntil }
    if (!message.sendsOnce || message.attempts >= maxAttempts) {
      // The outcome is unknown. Only a receipt can settle it, and it has `reconcileMs` to arrive. The limit of attempts stops a message
      // that crashes every worker that claims it.
      const until = new Date(leaseUntil.getTime() + message.reconcileMs)
      return until > now ? { do: 'later', at: until } : { do: 'fail', error: 'UNKNOWN_OUTCOME' }
    }
  }
  if (message.instanceDeleted) return { do: 'fail', error: endOf(message, 'INSTANCE_DELETED') }
  if (dueAt > now) return { do: 'later', at: dueAt }
  const until = new Date(dueAt.getTime() + ttlMs)
  if (until <= now) return { do: 'fail', error: endOf(message, 'EXPIRED') }
  if (nextAttemptAt && nextAttemptAt > now) return { do: 'later', at: nextAttemptAt }
  if (!message.instanceConnected) return { do: 'defer', until }
  return message.blocked ? { do: 'follow' } : { do: 'send' }
}

/**
 * The error of a message that is not attempted any more. `error` says that it did not leave, so that its caller may send it again: for a
 * message that the network may have, nobody knows that.
 */
export function endOf<Error extends string>({ mayHaveLeft }: Pick<OpenMessage, 'mayHaveLeft'>, error: Error) {
  return mayHaveLeft ? 'UNKNOWN_OUTCOME' : error
}

/**
 * Milliseconds until a message checks again whether the earlier one was sent. `n` is its position, from 0, among the messages of one claim.
 * The longer the network has had the earlier one (`leasedForMs`), and the longer its line (`open`), the rarer the checks.
 */
export function followDelayMs(n: number, leasedForMs = 0, open = 0): number {
  return Math.max(250, leasedForMs / 4, 25 * open) + 5 * n
}

/**
 * The number of sends in progress that one slow instance may have while `free` of all are left (dynamic threshold): an eighth of them. One
 * slow instance gets 222 of 2,000, twenty get 71 each, and there is always some left for the next.
 */
export function shareOf(free: number): number {
  return Math.max(1, Math.floor(free / 8))
}

/** The number of messages to release from a key after `size` of them left: few at first, so that a network that still asks to wait sees few. */
export function widerThan(size: number): number {
  return Math.min(size * 2, widest)
}

/**
 * Backoff with jitter: milliseconds until the next attempt after `attempts` attempts, 1 s doubling to 5 min, ±20 %. A delay that the
 * provider asks for (`afterMs`) replaces it, up to 1 h. Null after the last attempt.
 */
export function retryDelayMs(attempts: number, afterMs: number | undefined, random: () => number = Math.random): number | null {
  if (attempts >= maxAttempts) return null
  if (afterMs !== undefined) return Math.min(afterMs, hourMs)
  return Math.min(300_000, 1_000 * 2 ** (attempts - 1)) * (0.8 + 0.4 * random())
}
