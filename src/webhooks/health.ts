// Pure rules of an endpoint's health: since when it fails, and when it is given up.
const disableAfterMs = 5 * 86_400_000
/** Fewer events than that in those days say little about an endpoint. */
const disableAfterEvents = 10

export interface Health {
  /** Since when there were nothing but failures, and how many events met them. */
  failingSince: Date | null
  failedEvents: number
  disabledReason: string | null
}

export interface News {
  anyDelivered: boolean
  /** Events whose first attempt failed. */
  failedEvents: number
  gone: boolean
}

/** How attempts change an endpoint's health. */
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
