// Pure rules of when the messages of a campaign leave, by its rate and its quiet hours, if nothing holds them up.
import { nextQuiet, type QuietHours, quietUntil } from './quiet-hours.ts'

const minuteMs = 60_000
/** Quiet hours after which the times are no longer told; about a year of them. */
const mostBreaks = 366

export interface Schedule {
  start: Date
  /** Messages a minute; null without a limit, so that all leave at once. */
  rate: number | null
  quietHours: QuietHours | null
}

/** The time of each message in order, without an end unless it lies more than {@link mostBreaks} quiet hours ahead. */
export function* departures({ start, rate, quietHours }: Schedule): Generator<Date> {
  const stepMs = rate === null ? 0 : minuteMs / rate
  let at = start.getTime()
  for (let breaks = 0; breaks <= mostBreaks; breaks++) {
    at = quietUntil(quietHours, new Date(at))?.getTime() ?? at
    const until = nextQuiet(quietHours, new Date(at))?.getTime() ?? Number.POSITIVE_INFINITY
    for (; at < until; at += stepMs) yield new Date(at)
  }
}

/** The time of the last of `count` messages; null if there is no rate, or if it is further ahead than {@link departures} tells. */
export function lastDeparture(schedule: Schedule, count: number): Date | null {
  if (schedule.rate === null) return null
  let n = 0
  for (const at of departures(schedule)) if (++n === count) return at
  return null
}
