// Sliding-window rate limiter: bounds the requests of a key or a person in any one second, across all processes.

/** The state of the caller's rate window, as in the RateLimit headers. */
export interface RateState {
  limit: number
  remaining: number
  /** Seconds. */
  reset: number
}

/** A row of `windowsSql` (rate-window.sql.ts) from the view of one request of its group. */
export interface Standing {
  /** How many requests of the group the rate window let through, and how full it is. */
  granted: number
  used: number
  /** The position of the request in its group, from 0. The rate window lets requests through in the order of their arrival. */
  position: number
}

export function rateOf(limit: number, { granted, used, position }: Standing): RateState {
  const left = Math.max(0, limit - used + Math.max(0, granted - position - 1))
  return { limit, remaining: Math.min(left, limit), reset: 1 }
}

/**
 * Returns the time resolution of the window in ms. Times are rounded up, so that no second ever contains too many requests. The step is
 * coarser for high limits, because nobody notices it there.
 */
export function stepMs(limit: number): number {
  return limit > 100 ? 100 : 10
}
