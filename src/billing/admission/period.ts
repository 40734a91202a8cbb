// The billing period of a subscription: the stored period while it lasts, if the subscription is cancelled, or if Stripe sets it; otherwise
// the current calendar month (UTC).

export interface SubscriptionPeriod {
  status: string
  provider: string | null
  currentPeriodStart: Date
  currentPeriodEnd: Date
}

/** Returns the period that contains `now`. For a cancelled subscription it is the last period, for one at Stripe the last known period. */
export function periodOf(row: SubscriptionPeriod, now: Date): { start: Date; end: Date } {
  if (row.status === 'cancelled' || row.provider === 'stripe' || row.currentPeriodEnd > now)
    return { start: row.currentPeriodStart, end: row.currentPeriodEnd }
  return monthOf(now)
}

/** Returns the calendar month (UTC) that contains `now`. */
export function monthOf(now: Date): { start: Date; end: Date } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) }
}

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Returns the description of a payment for a plan: `Pro, November 2026`. */
export function describePayment(planName: string, at: Date): string {
  return `${planName}, ${monthName.format(at)}`
}

/** SQL: the first day of the current month (UTC). */
export const thisMonth = `date_trunc('month', now() at time zone 'utc')::date`
