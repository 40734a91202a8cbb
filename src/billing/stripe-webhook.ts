// The door for Stripe's events: believed by their signature alone.
import type { FastifyInstance } from 'fastify'
import type { Stripe } from 'stripe'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { idOf, openStripe, type StripeAccount } from './stripe-client.ts'
import { settleSession, storeRefund, syncCustomer, syncInvoice } from './stripe-sync.ts'

const url = '/api/billing/stripe/webhook'

/** Registers the route where Stripe is set up; answers which methods it takes. */
export function mountStripeWebhook(http: FastifyInstance, app: App): Map<string, Set<string>> {
  if (!app.secrets.stripe) return new Map()
  http.register(async (scope) => {
    // What is signed are the bytes as they came.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
    scope.post(url, async (request, reply) => {
      if (app.stopping) fail('SERVICE_UNAVAILABLE')
      const account = (await openStripe(app)) as StripeAccount
      const event = eventOf(account, request.body, request.headers['stripe-signature'])
      await handleEvent(app, account, event)
      return await reply.send({ data: { received: true } })
    })
  })
  return new Map([[url, new Set(['POST'])]])
}

/** @throws VALIDATION_ERROR for what Stripe did not sign, or signed more than five minutes ago. */
function eventOf({ stripe, settings }: StripeAccount, body: unknown, signature: unknown): Stripe.Event {
  if (typeof signature !== 'string' || !Buffer.isBuffer(body))
    fail('VALIDATION_ERROR', 'Stripe-Signature: must be the signature of this body')
  try {
    return stripe.webhooks.constructEvent(body, signature, settings.webhookSecret)
  } catch {
    return fail('VALIDATION_ERROR', 'Stripe-Signature: must be the signature of this body, not older than five minutes')
  }
}

/** Safe to repeat. What concerns nobody here is let go. @throws PROVIDER_ERROR, after which Stripe comes again. */
async function handleEvent(app: App, account: StripeAccount, event: Stripe.Event): Promise<void> {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.expired':
      return await settleSession(app, account, event.data.object)
    case 'invoice.paid':
    case 'invoice.payment_failed':
      return await syncInvoice(app, account, event.data.object)
    case 'charge.refunded':
      return await storeRefund(app, account, event.data.object)
    default:
      if (!event.type.startsWith('customer.subscription.')) return
      return await syncCustomer(app, account, idOf((event.data.object as Stripe.Subscription).customer) as string)
  }
}
