// The route for Stripe's webhook events, authenticated by their signature alone.
import type { FastifyInstance } from 'fastify'
import type { Stripe } from 'stripe'
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import { definePart } from '../../core/part.ts'
import { seldom } from '../../core/seldom.ts'
import { idOf, openStripe, type StripeAccount } from './client.ts'
import { settleSession, storeRefund, syncCustomer, syncInvoice } from './sync.ts'

const url = '/api/billing/stripe/webhook'
/** Several times the largest event about checkouts, invoices, charges and subscriptions. */
const maxEventBytes = 256 * 1024
/** Stripe's own tolerance for the age of a signature. */
const maxAgeSeconds = 300
const notSigned = 'Stripe-Signature: must be the signature of this body by STRIPE_WEBHOOK_SECRET, not older than five minutes'

/** Registers the route if Stripe is configured. Returns the methods that it accepts. */
export function mountStripeWebhook(http: FastifyInstance, app: App): Map<string, Set<string>> {
  if (!app.secrets.stripe) return new Map()
  http.register(async (scope) => {
    // The signature covers the bytes as they were sent.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
    // Anybody can send to this route, so a body is read only if it may be signed.
    scope.addHook('onRequest', async ({ headers }) => {
      if (!mayBeSigned(headers['stripe-signature'])) fail('VALIDATION_ERROR', notSigned)
    })
    scope.post(url, { bodyLimit: maxEventBytes }, async (request, reply) => {
      if (app.stopping) fail('SERVICE_UNAVAILABLE')
      const account = (await openStripe(app)) as StripeAccount
      const event = eventOf(app, account, request.body, request.headers['stripe-signature'])
      await handleEvent(app, account, event)
      return await reply.send({ data: { received: true } })
    })
  })
  return new Map([[url, new Set(['POST'])]])
}

/** True if the header has the form and the age of a signature. The signature itself is verified with the body. */
function mayBeSigned(header: unknown): boolean {
  if (typeof header !== 'string' || !/(^|,)v1=[0-9a-f]{64}(,|$)/.test(header)) return false
  const [, , at] = /(^|,)t=(\d{1,12})(,|$)/.exec(header) ?? []
  return at !== undefined && Date.now() / 1000 - Number(at) <= maxAgeSeconds
}

const isToBeTold = definePart(seldom)

/** @throws VALIDATION_ERROR when Stripe did not sign the body, or signed it more than five minutes ago. */
function eventOf(app: App, { stripe, settings }: StripeAccount, body: unknown, signature: unknown): Stripe.Event {
  if (typeof signature !== 'string' || !Buffer.isBuffer(body)) fail('VALIDATION_ERROR', notSigned)
  try {
    return stripe.webhooks.constructEvent(body, signature, settings.webhookSecret, maxAgeSeconds)
  } catch {
    if (isToBeTold(app)(url)) app.log.warn('an event of Stripe was refused: it is not signed with STRIPE_WEBHOOK_SECRET')
    return fail('VALIDATION_ERROR', notSigned)
  }
}

/** Idempotent. Events about other things are ignored. @throws PROVIDER_ERROR when Stripe fails; Stripe then sends the event again. */
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
