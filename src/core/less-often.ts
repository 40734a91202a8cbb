// Runs a periodic query less often while it is slow. During a long transaction PostgreSQL keeps dead rows, so some queries take longer every minute.

/** A query is due again after this many times as long as it took, so that it takes at most 1/20 of the time. */
const timesAsLong = 20
/** Longest pause: what the query finds, such as the work of a lost process, may not wait longer. */
const mostMs = 30_000

export interface LessOften {
  /** False for some time after a slow query. */
  isDue: () => boolean
  /** Measures a query. One that failed is due again at once. */
  during: <Result>(query: () => Promise<Result>) => Promise<Result>
}

/** `now` returns milliseconds. */
export function createLessOften(now: () => number = () => performance.now()): LessOften {
  let dueAt = now()
  return {
    isDue: () => now() >= dueAt,
    async during(query) {
      const startedAt = now()
      const result = await query()
      const endedAt = now()
      dueAt = endedAt + Math.min(mostMs, (timesAsLong - 1) * (endedAt - startedAt))
      return result
    },
  }
}
