// The billing period of a subscription: calendar months (UTC), one after the other until it is cancelled.

export interface SubscriptionPeriod {
  status: string
  currentPeriodStart: Date
  currentPeriodEnd: Date
}

/** The period that `now` lies in; of a cancelled subscription the last one. */
export function periodOf(row: SubscriptionPeriod, now: Date): { start: Date; end: Date } {
  if (row.status === 'cancelled' || row.currentPeriodEnd > now)
    return { start: row.currentPeriodStart, end: row.currentPeriodEnd }
  return monthOf(now)
}

/** The calendar month. */
export function monthOf(now: Date): { start: Date; end: Date } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) }
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** What a payment of a plan is for: `Pro, November 2026`. */
export function describePayment(planName: string, at: Date): string {
  return `${planName}, ${monthName.format(at)}`
}
