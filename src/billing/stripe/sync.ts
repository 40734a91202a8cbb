// Stores what Stripe says. An event only says where to look, so that events may come twice, late and in any order.
import type { Stripe } from 'stripe'
import { type Sql, transaction } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { oneLine } from '../../core/one-line.ts'
import type { Subscription } from '../../generated/prisma/client.ts'
import type { BillingApp } from '../provider.ts'
import { freeSince, lastingPlan, type SubscriptionState, storeSubscription } from '../subscription.ts'
import { findTeamFault } from '../team-fit.ts'
import { askStripe, idOf, type StripeAccount } from './client.ts'
import { type InvoicePayment, paymentOf, stateOf } from './state.ts'

/** More than events of one customer come at once; of those that do, one is stored each time. */
const tries = 20

/**
 * Makes the subscription of that customer what it is at Stripe now. Where it changes while Stripe is asked, Stripe is asked
 * again: an old answer never replaces a newer one. A customer nobody knows is left alone. @throws PROVIDER_ERROR.
 */
export async function syncCustomer(app: BillingApp, { stripe, settings }: StripeAccount, customer: string): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const seen = await findCustomer(app.pool, customer)
    if (!seen) return
    const { data } = await askStripe(app, stripe.subscriptions.list({ customer, status: 'all', limit: 100 }))
    const theirs = data.filter((subscription) => idOf(subscription.customer) === customer)
    const state = stateOf(settings.prices, theirs, seen)
    if (await transaction(app.pool, (tx) => storeUnlessChanged(app, tx, customer, seen, state))) return
  }
  fail('PROVIDER_ERROR', 'The subscription changes too fast to be read')
}

async function findCustomer(sql: Sql, customer: string, hold = ''): Promise<Subscription | undefined> {
  const { rows } = await sql.query<Subscription>(`select * from subscriptions where "customerId" = $1 ${hold}`, [customer])
  return rows[0]
}

async function storeUnlessChanged(
  app: BillingApp,
  tx: Sql,
  customer: string,
  seen: Subscription,
  state: SubscriptionState | null,
): Promise<boolean> {
  const held = await findCustomer(tx, customer, 'for update')
  if (held?.updatedAt.getTime() !== seen.updatedAt.getTime()) return false
  // Who has nothing at Stripe may have a plan from elsewhere. It is stored even where it is the same, because that touches the
  // row: an answer that is older, and says otherwise, is then known to be.
  const stored = await storeSubscription(tx, seen.userId, state ?? (held.provider === 'stripe' ? freeSince(new Date()) : held))
  const plan = lastingPlan(stored)
  if (plan !== lastingPlan(held)) {
    const fault = await findTeamFault(tx, seen.userId, plan)
    // It happened in Stripe's own pages, where nobody asks us.
    if (fault) app.log.warn({ userId: seen.userId, plan: plan.code, fault: oneLine(fault) }, 'the plan has no room for the teams')
  }
  // A change of plan in the customer's portal has no event of its own.
  if (state?.status === 'active') {
    await tx.query(
      `update checkouts set status = 'completed', "updatedAt" = now()
       where "userId" = $1 and provider = 'stripe' and plan = $2 and status = 'pending' and "externalId" like 'bps_%'`,
      [seen.userId, state.plan],
    )
  }
  return true
}

/** What became of a Checkout Session. It is the checkout of its customer, or none of ours. @throws PROVIDER_ERROR. */
export async function settleSession(app: BillingApp, account: StripeAccount, session: Stripe.Checkout.Session): Promise<void> {
  const customer = idOf(session.customer)
  const isComplete = session.status === 'complete'
  await app.pool.query(
    `update checkouts c set status = $1::text::checkout_status, "updatedAt" = now() from subscriptions s
     where c.id::text = $2 and c.provider = 'stripe' and c."userId" = s."userId" and s."customerId" = $3
       and (c.status = 'pending' or (c.status = 'expired' and $1::text = 'completed'))`,
    [isComplete ? 'completed' : 'expired', session.client_reference_id, customer],
  )
  if (isComplete && customer) await syncCustomer(app, account, customer)
}

/** Stores the payment of that invoice as it is at Stripe, and what follows for the subscription. @throws PROVIDER_ERROR. */
export async function syncInvoice(app: BillingApp, account: StripeAccount, invoice: Stripe.Invoice): Promise<void> {
  const customer = idOf(invoice.customer)
  const known = customer ? await findCustomer(app.pool, customer) : undefined
  if (!customer || !known) return
  await storeInvoice(app, account, known, invoice.id, false)
  await syncCustomer(app, account, customer)
}

/** A charge that was paid back whole. @throws PROVIDER_ERROR. */
export async function storeRefund(app: BillingApp, account: StripeAccount, charge: Stripe.Charge): Promise<void> {
  const [intent, customer] = [idOf(charge.payment_intent), idOf(charge.customer)]
  const known = customer ? await findCustomer(app.pool, customer) : undefined
  if (!charge.refunded || !intent || !known) return
  const payment = { type: 'payment_intent', payment_intent: intent } as const
  const { data } = await askStripe(app, account.stripe.invoicePayments.list({ payment, limit: 10 }))
  for (const { invoice } of data) await storeInvoice(app, account, known, idOf(invoice) as string, true)
}

/** Stores the payment of an invoice, where it is one of that customer. @throws PROVIDER_ERROR. */
async function storeInvoice(
  app: BillingApp,
  { stripe, settings }: StripeAccount,
  { userId, customerId }: Pick<Subscription, 'userId' | 'customerId'>,
  invoiceId: string,
  isRefunded: boolean,
): Promise<void> {
  const invoice = await askStripe(app, stripe.invoices.retrieve(invoiceId))
  const payment = idOf(invoice.customer) === customerId ? paymentOf(settings.prices, invoice) : null
  if (payment) await storePayment(app.pool, userId, invoiceId, { ...payment, ...(isRefunded && { status: 'refunded' }) })
}

/** One row an invoice, whose status only rises: what failed may be paid later, and what was paid may be given back. */
async function storePayment(
  sql: Sql,
  userId: string,
  invoiceId: string,
  payment: Omit<InvoicePayment, 'status'> & { status: string },
): Promise<void> {
  const ladder = `array['failed', 'paid', 'refunded']`
  await sql.query(
    `insert into payments as p (id, "userId", "amountCents", currency, status, description, "externalId", "createdAt")
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict ("externalId") do update set status = excluded.status, "amountCents" = excluded."amountCents"
       where array_position(${ladder}, p.status::text) < array_position(${ladder}, excluded.status::text)`,
    [newId(), userId, payment.amountCents, payment.currency, payment.status, payment.description, invoiceId, payment.createdAt],
  )
}
