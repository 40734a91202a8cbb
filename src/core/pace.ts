// Makes a regular look rarer while it is slow. An old snapshot lets some looks take longer with each minute, because PostgreSQL keeps all dead rows.

/** A look takes one part in this many of the time, at most. */
const share = 20

export interface Pace {
  /** False for some time after a slow look. */
  isDue: () => boolean
  /** Measures a look. */
  during: <Result>(look: () => Promise<Result>) => Promise<Result>
}

/** `now` returns milliseconds. */
export function createPace(now: () => number = () => performance.now()): Pace {
  let dueAt = now()
  return {
    isDue: () => now() >= dueAt,
    async during(look) {
      const startedAt = now()
      try {
        return await look()
      } finally {
        dueAt = startedAt + share * (now() - startedAt)
      }
    },
  }
}
