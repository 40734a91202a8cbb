// When an instance reaches a cap of 24 hours at its present rate. Pure.
import { minuteMs } from '../../core/durations.ts'

const dayMinutes = 24 * 60

/**
 * The first minute at which the messages of 24 hours are `cap`, if as many leave from now on as in the last hour. Messages of before leave
 * the 24 hours meanwhile. Null if that does not happen within a day. `minutes` are the departures by minute since 1970.
 */
export function reachedAt(minutes: readonly (readonly [minute: number, n: number])[], cap: number, now: Date): Date | null {
  const at = Math.floor(now.getTime() / minuteMs)
  const past = minutes.filter(([minute]) => minute > at - dayMinutes && minute <= at)
  const sumOf = (list: typeof past) => list.reduce((sum, [, n]) => sum + n, 0)
  let sum = sumOf(past)
  if (sum >= cap) return now
  const rate = sumOf(past.filter(([minute]) => minute > at - 60)) / 60
  if (rate === 0) return null
  const byMinute = new Map(past)
  for (let ahead = 1; ahead <= dayMinutes; ahead++) {
    sum -= byMinute.get(at - dayMinutes + ahead) ?? 0
    if (sum + rate * ahead >= cap) return new Date((at + ahead) * minuteMs)
  }
  return null
}
