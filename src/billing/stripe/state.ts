// What Stripe's subscriptions and invoices mean here: pure rules.
import type { Stripe } from 'stripe'
import type { StripeSettings } from '../../core/config/config.ts'
import { describePayment } from '../admission/period.ts'
import { type Plan, plans } from '../plans.ts'
import type { SubscriptionState } from '../subscription.ts'
import { idOf } from './client.ts'

type Prices = StripeSettings['prices']

const statuses: Record<string, SubscriptionState['status']> = {
  active: 'active',
  trialing: 'active',
  past_due: 'past_due',
  unpaid: 'inactive',
  paused: 'inactive',
}

/** The plan of a price; null for a price of something else. */
function planOfPrice(prices: Prices, price: string | null): Plan | null {
  return plans.find(({ code }) => code !== 'free' && prices[code] === price) ?? null
}

/** What was stored of a customer before. */
export type Stored = Pick<SubscriptionState, 'plan' | 'externalId'>

/**
 * The plan of a subscription: that of its price. At a price that is not known any more it is the plan it was seen with
 * last, or, where it was not seen before, the one it was begun with: its customer may have changed plan in between.
 */
function planOfSubscription(prices: Prices, { id, items, metadata }: Stripe.Subscription, stored: Stored): Plan | null {
  const [current] = items.data.flatMap(({ price }) => planOfPrice(prices, price.id) ?? [])
  const former = stored.externalId === id ? stored.plan : metadata.plan
  return current ?? plans.find(({ code }) => code !== 'free' && code === former) ?? null
}

/**
 * What a customer has by all their subscriptions: the newest that runs and is of a plan of ours. Null where there is none:
 * those that ended, and those whose first payment is still to come, grant nothing.
 */
export function stateOf(prices: Prices, subscriptions: readonly Stripe.Subscription[], stored: Stored): SubscriptionState | null {
  const inOrder = [...subscriptions].sort((a, b) => b.created - a.created || (a.id < b.id ? 1 : -1))
  for (const subscription of inOrder) {
    const status = statuses[subscription.status]
    const plan = planOfSubscription(prices, subscription, stored)
    const [item] = subscription.items.data
    if (!status || !plan || !item) continue
    const ends = subscription.cancel_at_period_end || subscription.cancel_at !== null
    const end = (ends ? subscription.cancel_at : null) ?? item.current_period_end
    return {
      plan: plan.code,
      // What is not usable does not become so by being cancelled.
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

/** The payment that an invoice stands for; null before anybody tried to pay it, and where nothing is to be paid. */
export function paymentOf(prices: Prices, invoice: Stripe.Invoice): InvoicePayment | null {
  const status = invoice.status === 'paid' ? 'paid' : invoice.attempted ? 'failed' : null
  const amountCents = status === 'paid' ? invoice.amount_paid : invoice.amount_due
  if (!status || amountCents <= 0 || invoice.status === 'draft' || invoice.status === 'void') return null
  // After a change of plan there is also a line about the rest of the old one.
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
