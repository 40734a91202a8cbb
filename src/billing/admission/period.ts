// The billing period of a subscription, which is the month of its quotas. On a paid plan it is the stored period while that lasts, if the
// subscription is cancelled, or if Stripe sets it. Otherwise, and on Free, it is the current calendar month (UTC).

export interface SubscriptionPeriod {
  plan: string
  status: string
  provider: string | null
  currentPeriodStart: Date
  currentPeriodEnd: Date
}

/** Returns the period that contains `now`. For a cancelled subscription it is the last period, for one at Stripe the last known period. */
export function periodOf(row: SubscriptionPeriod, now: Date): { start: Date; end: Date } {
  if (row.plan === 'free') return monthOf(now)
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

const utcMonth = `date_trunc('month', now() at time zone 'utc')`

/** SQL: true if the row of `subscriptions` with the alias `row` has a period of its own, as in {@link periodOf}. */
function ownPeriodSql(row: string): string {
  return `${row}.plan <> 'free' and (${row}.status = 'cancelled' or ${row}.provider = 'stripe' or ${row}."currentPeriodEnd" > now())`
}

/** SQL: the start of {@link periodOf}. */
export function periodStartSql(row: string): string {
  return `case when ${ownPeriodSql(row)} then ${row}."currentPeriodStart" else ${utcMonth} at time zone 'utc' end`
}

/** SQL: the end of {@link periodOf}. */
export function periodEndSql(row: string): string {
  return `case when ${ownPeriodSql(row)} then ${row}."currentPeriodEnd" else (${utcMonth} + interval '1 month') at time zone 'utc' end`
}

/** SQL: the day (UTC) on which {@link periodOf} begins. The rows of `usage` and `api_usage` are named by it. */
export function periodSql(row: string): string {
  return `(${periodStartSql(row)} at time zone 'utc')::date`
}

/** SQL: {@link periodSql} of the subscription of a user. `userId` is an expression. */
export function periodOfUserSql(userId: string): string {
  return `coalesce((select ${periodSql('s')} from subscriptions s where s."userId" = ${userId}), ${utcMonth}::date)`
}
