// The attempts in progress of one process, and its limit on them.
import type { Lease } from './claim.sql.ts'

export interface Running {
  /**
   * Runs `begin`, which may add attempts, once there are fewer than the limit. Calls that wait follow one another in order, as attempts end and
   * as calls before them add fewer than there is room for.
   */
  whenFree: <Result>(begin: () => Promise<Result>) => Promise<Result>
  /** True while half of the limit is taken. */
  isCrowded: () => boolean
  /** Runs `begin`, which may add as many attempts as `places`. Until it is done, these count as attempts: the claim of many takes a while. */
  reserve: <Result>(places: number, begin: () => Promise<Result>) => Promise<Result>
  /** Adds an attempt, which must not reject. */
  add: (lease: Lease, attempt: Promise<void>) => void
  leases: () => Lease[]
  /** Resolves once what is beginning now has begun, and all attempts that are in progress then have ended. */
  ended: () => Promise<void>
}

/** `most` is a soft limit: a call that begins while there is room may add several attempts. */
export function createRunning(most: number): Running {
  // Not by delivery: one that is redelivered after its lease was over has a second attempt while the first one ends.
  const attempts = new Set<{ lease: Lease; ended: Promise<void> }>()
  const waiting: (() => void)[] = []
  const beginning = new Set<Promise<unknown>>()
  let reserved = 0
  const taken = () => attempts.size + reserved
  function wakeNext(): void {
    if (taken() < most) waiting.shift()?.()
  }
  return {
    async whenFree(begin) {
      while (taken() >= most) await new Promise<void>((resolve) => waiting.push(resolve))
      const begun = begin()
      beginning.add(begun)
      try {
        return await begun
      } finally {
        beginning.delete(begun)
        wakeNext()
      }
    },
    isCrowded: () => taken() >= most / 2,
    async reserve(places, begin) {
      reserved += places
      try {
        return await begin()
      } finally {
        reserved -= places
        wakeNext()
      }
    },
    add(lease, attempt) {
      const ended = attempt.finally(() => {
        attempts.delete(entry)
        wakeNext()
      })
      const entry = { lease, ended }
      attempts.add(entry)
    },
    leases: () => [...attempts].map(({ lease }) => lease),
    async ended() {
      await Promise.allSettled(beginning)
      await Promise.allSettled([...attempts].map(({ ended }) => ended))
    },
  }
}
