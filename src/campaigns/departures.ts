// Pure rules of when the messages of a campaign leave, by its rate and its quiet hours, if nothing holds them up.
import { minuteMs } from '../core/durations.ts'
import { nextQuiet, type QuietHours, quietUntil } from './quiet-hours.ts'

/** Number of periods of quiet hours after which the calculation stops: about a year of daily ones. */
const mostBreaks = 366

export interface Schedule {
  start: Date
  /** Messages a minute; null without a limit, so that all leave at once. */
  rate: number | null
  quietHours: QuietHours | null
}

interface Span {
  /** Time of its first message, in ms. */
  from: number
  /** Number of its messages, which may be infinite. */
  count: number
  stepMs: number
}

/** The times between quiet hours in which messages leave. Stops after {@link mostBreaks} periods of quiet hours. */
function* spans({ start, rate, quietHours }: Schedule): Generator<Span> {
  const stepMs = rate === null ? 0 : minuteMs / rate
  let from = start.getTime()
  for (let breaks = 0; breaks <= mostBreaks; breaks++) {
    from = quietUntil(quietHours, new Date(from))?.getTime() ?? from
    const until = nextQuiet(quietHours, new Date(from))?.getTime() ?? Number.POSITIVE_INFINITY
    const count = Math.max(0, Math.ceil((until - from) / stepMs))
    yield { from, count, stepMs }
    from += count * stepMs
  }
}

/** Yields the time of each message in order. Stops after {@link mostBreaks} periods of quiet hours. */
export function* departures(schedule: Schedule): Generator<Date> {
  for (const { from, count, stepMs } of spans(schedule)) for (let n = 0; n < count; n++) yield new Date(from + n * stepMs)
}

/** The time of the last of `count` messages; null if there is no rate, or if it is later than the last one of {@link departures}. */
export function lastDeparture(schedule: Schedule, count: number): Date | null {
  if (schedule.rate === null || count === 0) return null
  let left = count
  for (const span of spans(schedule)) {
    if (left <= span.count) return new Date(span.from + (left - 1) * span.stepMs)
    left -= span.count
  }
  return null
}
