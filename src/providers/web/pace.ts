// Pace of an instance: a random time between two messages, so that sending looks like a person's. The holder of the connection keeps it.

export interface Pace {
  minMs: number
  maxMs: number
}

export interface Pacer {
  /** Takes the next turn and returns 0, or returns the milliseconds until one is free. */
  take: (pace: Pace) => number
}

export function createPacer(now: () => number = () => performance.now(), random: () => number = Math.random): Pacer {
  let nextAt = Number.NEGATIVE_INFINITY
  return {
    take({ minMs, maxMs }) {
      const at = now()
      if (at < nextAt) return Math.ceil(nextAt - at)
      nextAt = at + minMs + (maxMs - minMs) * random()
      return 0
    },
  }
}
