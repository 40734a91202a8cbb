// Pure rules of an endpoint's health: the start of its failures, and the point at which it is disabled.
import { dayMs } from '../core/durations.ts'

const disableAfterMs = 5 * dayMs
/** Fewer failed events than this in those days are too few to judge an endpoint. */
const disableAfterEvents = 10

export interface Health {
  /** Start of the failures since the last success, and the number of events that met them. */
  failingSince: Date | null
  failedEvents: number
  disabledReason: string | null
}

export interface News {
  anyDelivered: boolean
  /** Number of events whose first attempt failed. */
  failedEvents: number
  gone: boolean
}

/** The health of an endpoint after attempts. */
export function healthAfter(health: Health, news: News, now: Date): Health {
  const failingSince = news.anyDelivered ? null : (health.failingSince ?? now)
  const failedEvents = news.anyDelivered ? 0 : health.failedEvents + news.failedEvents
  const failing =
    failingSince !== null && now.getTime() - failingSince.getTime() >= disableAfterMs && failedEvents >= disableAfterEvents
  return {
    failingSince,
    failedEvents,
    disabledReason: health.disabledReason ?? (news.gone ? 'gone' : failing ? 'failing' : null),
  }
}
