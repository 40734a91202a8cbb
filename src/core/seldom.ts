// Limits how often something is logged that anybody can cause.
import { minuteMs } from './durations.ts'

/** Returns a function that is true at most once a minute for each key. The keys stay in memory, so there must be few of them. */
export function seldom(): (key: string) => boolean {
  const last = new Map<string, number>()
  return (key) => {
    const now = performance.now()
    if (now - (last.get(key) ?? Number.NEGATIVE_INFINITY) < minuteMs) return false
    last.set(key, now)
    return true
  }
}
