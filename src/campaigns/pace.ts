// Pure rules of the pace of a campaign: how many messages may leave now, and when the next one may.
import { minuteMs } from '../core/durations.ts'
import type { SafetyState } from '../instances/safety.ts'

export const maxRate = 6_000

/** Messages a minute of a campaign without a rate of its own, by the safety state of its instance. */
export const defaultRates: Readonly<Record<SafetyState, number>> = { new: 5, warming: 20, at_risk: 10, restricted: 1, stable: 60 }

/**
 * A message that is late by up to this much is made up for, because a job starts some time after its moment. After a longer time, as
 * after a crash or a pause, the pace begins anew, so that no minute has more messages than the rate.
 */
const madeUpMs = 2_000
/** Shortest time between two jobs of a campaign with a rate. */
const leastGapMs = 500

export interface Pace {
  /** Messages a minute; null without a limit. */
  rate: number | null
  /** Earliest time of the next message; null if none has left yet. */
  nextAt: Date | null
}

/** Number of messages that may leave at `now`: never more than a tenth of a minute's share, and at least one. */
export function dueNow({ rate, nextAt }: Pace, now: Date): number {
  if (rate === null) return Number.POSITIVE_INFINITY
  const lateMs = nextAt ? now.getTime() - nextAt.getTime() : 0
  if (lateMs < 0) return 0
  if (lateMs > madeUpMs) return 1
  return Math.min(1 + Math.floor((lateMs * rate) / minuteMs), Math.max(1, Math.floor(rate / 10)))
}

/** The earliest time of the next message, after `count` messages left at `now`. `nextAt` is the one that was stored before. */
export function nextMoment(nextAt: Date | null, rate: number, count: number, now: Date): Date {
  const lateMs = nextAt ? now.getTime() - nextAt.getTime() : 0
  const from = nextAt && lateMs >= 0 && lateMs <= madeUpMs ? nextAt : now
  return new Date(from.getTime() + (count * minuteMs) / rate)
}

/** When the job for the next message starts, or the one that takes back what is queued when quiet hours begin, at `quietFrom`. */
export function stepAt(nextAt: Date, now: Date, quietFrom: Date | null): Date {
  return earlier(new Date(Math.max(nextAt.getTime(), now.getTime() + leastGapMs)), quietFrom)
}

export function earlier(at: Date, other: Date | null): Date {
  return other && other < at ? other : at
}

/** The earliest time of the next message when the rate changes: at most the new time between two messages ahead; null without a rate. */
export function nextAtNewRate(nextAt: Date | null, rate: number | null, now: Date): Date | null {
  return nextAt && rate ? new Date(Math.min(nextAt.getTime(), now.getTime() + minuteMs / rate)) : null
}
