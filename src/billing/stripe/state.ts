// Pure rules that map Stripe's subscriptions and invoices to our states.
import type { Stripe } from 'stripe'
import type { StripeSettings } from '../../core/config/config.ts'
import { describePayment } from '../admission/period.ts'
import { type Plan, plans } from '../plans.ts'
import type { SubscriptionState } from '../subscriptions.sql.ts'
import { idOf } from './client.ts'

type Prices = StripeSettings['prices']

const statuses: Record<string, SubscriptionState['status']> = {
  active: 'active',
  trialing: 'active',
  past_due: 'past_due',
  unpaid: 'inactive',
  paused: 'inactive',
}

/** Returns the plan of a price; null for a price of something else. */
function planOfPrice(prices: Prices, price: string | null): Plan | null {
  return plans.find(({ code }) => code !== 'free' && prices[code] === price) ?? null
}

/** The stored state of a customer. */
export type Stored = Pick<SubscriptionState, 'plan' | 'externalId'>

/**
 * Returns the plan of a subscription by its price. If the price is not configured, returns the plan that is stored for the subscription. If
 * none is stored, returns the plan it began with, from its metadata. The stored plan comes first, because the customer may have changed
 * plan since.
 */
function planOfSubscription(prices: Prices, { id, items, metadata }: Stripe.Subscription, stored: Stored): Plan | null {
  const [current] = items.data.flatMap(({ price }) => planOfPrice(prices, price.id) ?? [])
  const former = stored.externalId === id ? stored.plan : metadata.plan
  return current ?? plans.find(({ code }) => code !== 'free' && code === former) ?? null
}

/**
 * Returns the state of a customer from all their subscriptions: the newest one that runs and has a plan of ours decides. Returns null if
 * there is none: ended subscriptions, and those whose first payment is still to come, grant nothing.
 */
export function stateOf(prices: Prices, subscriptions: readonly Stripe.Subscription[], stored: Stored): SubscriptionState | null {
  const inOrder = [...subscriptions].sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
  for (const subscription of inOrder) {
    const status = statuses[subscription.status]
    const plan = planOfSubscription(prices, subscription, stored)
    const [item] = subscription.items.data
    if (!status || !plan || !item) continue
    const { cancel_at: endsAt, cancel_at_period_end: endsWithPeriod } = subscription
    // One that ends after this period is renewed first, so it is not cancelled yet.
    const ends = endsWithPeriod || (endsAt !== null && endsAt <= item.current_period_end)
    const end = (ends ? endsAt : null) ?? item.current_period_end
    return {
      plan: plan.code,
      // A cancellation does not make an unusable subscription usable.
      status: ends && status !== 'inactive' ? 'cancelled' : status,
      currentPeriodStart: new Date(item.current_period_start * 1000),
      currentPeriodEnd: new Date(end * 1000),
      cancelAtPeriodEnd: ends,
      provider: 'stripe',
      externalId: subscription.id,
    }
  }
  return null
}

export interface InvoicePayment {
  status: 'paid' | 'failed'
  amountCents: number
  currency: string
  description: string
  createdAt: Date
}

/** Returns the payment of an invoice; null before the first attempt to pay it, and if nothing is to be paid. */
export function paymentOf(prices: Prices, invoice: Stripe.Invoice): InvoicePayment | null {
  const status = invoice.status === 'paid' ? 'paid' : invoice.attempted ? 'failed' : null
  const amountCents = status === 'paid' ? invoice.amount_paid : invoice.amount_due
  if (!status || amountCents <= 0 || invoice.status === 'draft' || invoice.status === 'void') return null
  // After a change of plan there is also a credit line for the rest of the old plan.
  const lines = invoice.lines.data.filter(({ amount }) => amount > 0)
  const line = lines.at(-1)
  const plan = planOfPrice(prices, idOf(line?.pricing?.price_details?.price))
  const from = new Date((line?.period.start ?? invoice.created) * 1000)
  return {
    status,
    amountCents,
    currency: invoice.currency.toUpperCase(),
    description: describePayment(plan?.name ?? 'Subscription', from),
    createdAt: new Date(invoice.created * 1000),
  }
}
