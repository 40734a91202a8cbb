// The billing period of a subscription: what is stored of it, as long as it lasts or where Stripe says it; otherwise calendar
// months (UTC), one after the other.

export interface SubscriptionPeriod {
  status: string
  provider: string | null
  currentPeriodStart: Date
  currentPeriodEnd: Date
}

/** The period that `now` lies in; of a cancelled subscription the last one, and of one at Stripe the last that is known of. */
export function periodOf(row: SubscriptionPeriod, now: Date): { start: Date; end: Date } {
  if (row.status === 'cancelled' || row.provider === 'stripe' || row.currentPeriodEnd > now)
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
