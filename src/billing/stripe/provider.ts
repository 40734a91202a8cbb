// The billing provider Stripe: Stripe Checkout for new customers, the customer portal for changes of plan.
import type { Stripe } from 'stripe'
import { consoleUrl } from '../../accounts/mail/console-url.ts'
import { fail } from '../../core/errors.ts'
import type { BillingApp, BillingProvider, Opened, Order } from '../provider.ts'
import { storeCustomer } from '../subscriptions.sql.ts'
import { callStripe, findAtStripe, openStripe, type StripeAccount } from './client.ts'
import { settleSession, syncCustomer } from './sync.ts'

/** Returns a provider for the Stripe account of `app.secrets.stripe`. */
export function createStripeProvider(app: BillingApp): BillingProvider {
  const account = async () => (await openStripe(app)) as StripeAccount
  return {
    name: 'stripe',
    async open(order) {
      const opened = await account()
      const { provider, externalId, customerId } = order.subscription
      const customer = customerId ?? (await makeCustomer(app, opened, order))
      if (provider === 'stripe' && externalId) {
        const page = await openPortal(app, opened, order, customer, externalId)
        if (page) return page
      }
      const page = await openCheckout(app, opened, order, customer, order.checkoutId)
      if (page) return page
      // A customer that Stripe does not know has no running subscription there, so a new customer is created.
      const another = await makeCustomer(app, opened, order)
      const again = await openCheckout(app, opened, order, another, `${order.checkoutId}-again`)
      return again ?? fail('PROVIDER_ERROR', 'Stripe does not find the customer that it has just created; try again later')
    },
    async isOpen({ externalId }) {
      // A page of the portal is valid for minutes only, so a new one is always opened.
      if (!externalId?.startsWith('cs_')) return false
      const opened = await account()
      const session = await findAtStripe(app, opened.stripe.checkout.sessions.retrieve(externalId))
      if (session?.status !== 'complete') return session?.status === 'open'
      await settleSession(app, opened, session)
      fail('INVALID_STATE', 'The previous checkout was completed; read the subscription again')
    },
    async close({ externalId }) {
      if (!externalId?.startsWith('cs_')) return
      const { stripe } = await account()
      await callStripe(app, stripe.checkout.sessions.expire(externalId))
    },
    async renew({ externalId, customerId }, goesOn) {
      if (!externalId || !customerId) return false
      const opened = await account()
      const { subscriptions } = opened.stripe
      const changed = await callStripe(app, subscriptions.update(externalId, { cancel_at_period_end: !goesOn }))
      // The customer portal sets the end as a timestamp. A separate call removes it, because Stripe rejects both parameters at once.
      if (goesOn && changed.cancel_at) await callStripe(app, subscriptions.update(externalId, { cancel_at: '' }))
      await syncCustomer(app, opened, customerId)
      return true
    },
    async end({ customerId }) {
      if (!customerId) return
      const { subscriptions } = (await account()).stripe
      // Without a status in the request, the list leaves canceled ones out, but has those whose first payment never came.
      const listed = await findAtStripe(app, subscriptions.list({ customer: customerId, limit: 100 }), 'customer')
      for (const { id, status } of listed?.data ?? []) {
        if (status !== 'incomplete_expired') await findAtStripe(app, subscriptions.cancel(id))
      }
    },
  }
}

/** Creates the payer's customer at Stripe and stores its id. Returns the stored id. */
async function makeCustomer(app: BillingApp, { stripe }: StripeAccount, order: Order): Promise<string> {
  const { payer, subscription, checkoutId } = order
  const { id } = await callStripe(
    app,
    stripe.customers.create(
      { email: payer.email, name: payer.name, metadata: { userId: payer.id } },
      { idempotencyKey: `customer-${checkoutId}` },
    ),
  )
  // If two such orders run at once, one customer is kept: the one that events are looked up by.
  return await storeCustomer(app.pool, payer.id, id, subscription.customerId)
}

/** Returns null if Stripe does not know the customer. */
async function openCheckout(
  app: BillingApp,
  { stripe, settings }: StripeAccount,
  { checkoutId, plan }: Order,
  customer: string,
  idempotencyKey: string,
): Promise<Opened | null> {
  const back = billingPage(app)
  const session = await findAtStripe(
    app,
    stripe.checkout.sessions.create(
      {
        mode: 'subscription',
        customer,
        client_reference_id: checkoutId,
        line_items: [{ price: settings.prices[plan], quantity: 1 }],
        // Identifies the plan even after its price has changed.
        subscription_data: { metadata: { plan } },
        success_url: `${back}?checkout=completed`,
        cancel_url: `${back}?checkout=cancelled`,
      },
      { idempotencyKey },
    ),
    'customer',
  )
  return session && { externalId: session.id, url: session.url }
}

/**
 * Opens the customer portal: to confirm the new price, or, for the current plan, to fix a problem with it. Returns null if Stripe does not
 * know the customer or the subscription.
 */
async function openPortal(
  app: BillingApp,
  { stripe, settings }: StripeAccount,
  { checkoutId, plan, subscription }: Order,
  customer: string,
  externalId: string,
): Promise<Opened | null> {
  const back = billingPage(app)
  const params: Stripe.BillingPortal.SessionCreateParams = { customer, return_url: back }
  if (subscription.plan !== plan) {
    const found = await findAtStripe(app, stripe.subscriptions.retrieve(externalId))
    if (!found) return null
    params.flow_data = {
      type: 'subscription_update_confirm',
      subscription_update_confirm: {
        subscription: externalId,
        items: [{ id: found.items.data[0]?.id as string, price: settings.prices[plan], quantity: 1 }],
      },
      after_completion: { type: 'redirect', redirect: { return_url: `${back}?checkout=completed` } },
    }
  }
  const call = stripe.billingPortal.sessions.create(params, { idempotencyKey: `portal-${checkoutId}` })
  const session = await findAtStripe(app, call, 'customer')
  return session && { externalId: session.id, url: session.url }
}

function billingPage(app: BillingApp): string {
  return `${consoleUrl(app)}/billing`
}
