// Stores the state at Stripe. An event only triggers a read from Stripe, so events may arrive twice, late and in any order.
import type { Stripe } from 'stripe'
import { type Tx, transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { isId } from '../../core/id.ts'
import { oneLine } from '../../core/one-line.ts'
import type { CheckoutStatus, Subscription } from '../../generated/prisma/client.ts'
import type { BillingApp } from '../provider.ts'
import { freeSince, lastingPlan, storeSubscription } from '../subscription.ts'
import { lockSubscriptionOf, type SubscriptionState } from '../subscriptions.sql.ts'
import { findTeamFault } from '../team-fit.ts'
import { callStripe, idOf, type StripeAccount } from './client.ts'
import { storePayment } from './payments.sql.ts'
import { paymentOf, stateOf } from './state.ts'

/** More than the events of one customer that arrive at once. Of concurrent attempts, one is stored in each round. */
const tries = 20

/**
 * Sets the subscription of that customer to its current state at Stripe. If the row changes during the call, Stripe is called again
 * (optimistic locking), so that an old answer never replaces a newer one. An unknown customer is ignored.
 * @throws PROVIDER_ERROR when Stripe fails, or when the row keeps changing.
 */
export async function syncCustomer(app: BillingApp, { stripe, settings }: StripeAccount, customer: string): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const seen = await findCustomer(app, customer)
    if (!seen) return
    const { data } = await callStripe(app, stripe.subscriptions.list({ customer, status: 'all', limit: 100 }))
    const theirs = data.filter((subscription) => idOf(subscription.customer) === customer)
    const state = stateOf(settings.prices, theirs, seen)
    if (await transaction(app.db, (tx) => storeUnlessChanged(app, tx, customer, seen, state))) return
  }
  fail('PROVIDER_ERROR', 'The subscription changes too often to be read')
}

async function findCustomer({ db }: BillingApp, customerId: string | null): Promise<Subscription | null> {
  return customerId === null ? null : await db.subscription.findUnique({ where: { customerId } })
}

async function storeUnlessChanged(
  app: BillingApp,
  tx: Tx,
  customer: string,
  seen: Subscription,
  state: SubscriptionState | null,
): Promise<boolean> {
  const held = await lockSubscriptionOf(tx, customer)
  if (held?.updatedAt.getTime() !== seen.updatedAt.getTime()) return false
  // A customer without a subscription at Stripe may have a plan from elsewhere, and keeps it. The row is stored even if nothing changes,
  // because that updates `updatedAt`: a concurrent, older answer is then recognized as outdated.
  const present = { ...held, status: held.suspendedFrom ?? held.status }
  const stored = await storeSubscription(tx, seen.userId, state ?? (held.provider === 'stripe' ? freeSince(new Date()) : present))
  const plan = lastingPlan(stored)
  if (plan !== lastingPlan(held)) {
    const fault = await findTeamFault(tx, seen.userId, plan)
    // The change was made on Stripe's own pages, so it cannot be rejected here.
    if (fault) app.log.warn({ userId: seen.userId, plan: plan.code, fault: oneLine(fault) }, 'the plan does not fit the teams')
  }
  // A change of plan in the customer portal has no event of its own.
  if (state?.status === 'active') {
    await tx.db.checkout.updateMany({
      where: {
        userId: seen.userId,
        provider: 'stripe',
        plan: state.plan,
        status: 'pending',
        externalId: { startsWith: 'bps_' },
      },
      data: { status: 'completed' },
    })
  }
  return true
}

/** Stores the outcome of a Checkout Session, if it is for a checkout of its customer. @throws PROVIDER_ERROR when Stripe fails. */
export async function settleSession(app: BillingApp, account: StripeAccount, session: Stripe.Checkout.Session): Promise<void> {
  const customer = idOf(session.customer)
  const isComplete = session.status === 'complete'
  const known = await findCustomer(app, customer)
  const { client_reference_id: id } = session
  if (known && isId(id)) {
    // A checkout that counts as expired may have been completed shortly before.
    const from: CheckoutStatus[] = isComplete ? ['pending', 'expired'] : ['pending']
    await app.db.checkout.updateMany({
      where: { id, userId: known.userId, provider: 'stripe', status: { in: from } },
      data: { status: isComplete ? 'completed' : 'expired' },
    })
  }
  if (isComplete && customer) await syncCustomer(app, account, customer)
}

/** Stores the payment of an invoice as it is at Stripe, then the state of the subscription. @throws PROVIDER_ERROR when Stripe fails. */
export async function syncInvoice(app: BillingApp, account: StripeAccount, invoice: Stripe.Invoice): Promise<void> {
  const customer = idOf(invoice.customer)
  const known = await findCustomer(app, customer)
  if (!customer || !known) return
  await storeInvoice(app, account, known, invoice.id, false)
  await syncCustomer(app, account, customer)
}

/** Stores the refund of a charge that was refunded in full. @throws PROVIDER_ERROR when Stripe fails. */
export async function storeRefund(app: BillingApp, account: StripeAccount, charge: Stripe.Charge): Promise<void> {
  const intent = idOf(charge.payment_intent)
  const known = await findCustomer(app, idOf(charge.customer))
  if (!charge.refunded || !intent || !known) return
  const payment = { type: 'payment_intent', payment_intent: intent } as const
  const { data } = await callStripe(app, account.stripe.invoicePayments.list({ payment, limit: 10 }))
  for (const { invoice } of data) await storeInvoice(app, account, known, idOf(invoice) as string, true)
}

/** Stores the payment of an invoice if it is one of that customer. @throws PROVIDER_ERROR when Stripe fails. */
async function storeInvoice(
  app: BillingApp,
  { stripe, settings }: StripeAccount,
  { userId, customerId }: Pick<Subscription, 'userId' | 'customerId'>,
  invoiceId: string,
  isRefunded: boolean,
): Promise<void> {
  const invoice = await callStripe(app, stripe.invoices.retrieve(invoiceId))
  const payment = idOf(invoice.customer) === customerId ? paymentOf(settings.prices, invoice) : null
  if (payment) await storePayment(app.pool, userId, invoiceId, { ...payment, ...(isRefunded && { status: 'refunded' }) })
}
