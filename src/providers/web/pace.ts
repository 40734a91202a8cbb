// Pace of an instance: a random time between two messages, so that sending looks like a person's. The holder of the connection keeps it.

export interface Pace {
  minMs: number
  maxMs: number
}

export interface Pacer {
  /** Takes the next turn and returns 0, or returns the milliseconds until one is free. */
  take: (pace: Pace) => number
}

/** The first turn is free one pause after the call of this function, because the holder before this one may just have sent a message. */
export function createPacer(now: () => number = () => performance.now(), random: () => number = Math.random): Pacer {
  let lastAt = now()
  let share = random()
  return {
    take({ minMs, maxMs }) {
      const at = now()
      const nextAt = lastAt + minMs + (maxMs - minMs) * share
      if (at < nextAt) return Math.ceil(nextAt - at)
      lastAt = at
      share = random()
      return 0
    },
  }
}
