// The billing providers of this gateway: Stripe if it is configured, and always the manual one.
import { fail } from '../core/errors.ts'
import { definePart } from '../core/part.ts'
import { createShare } from '../core/share.ts'
import { manual } from './manual.ts'
import type { BillingApp, BillingProviders } from './provider.ts'
import { createStripeProvider } from './stripe/provider.ts'

export const billingProviders = definePart(createBillingProviders)

/**
 * The requests of one owner that are at the provider at once. Stripe limits those of all owners together, and each holds a connection for up to
 * ten seconds while Stripe does not answer.
 */
export const atProvider = definePart(() => createShare({ perCaller: 3, mostWaiting: 20, waitMs: 15_000 }))

function createBillingProviders(app: BillingApp): BillingProviders {
  const stripe = app.secrets.stripe ? createStripeProvider(app) : null
  return {
    current: stripe ?? manual,
    of({ provider }) {
      if (provider !== 'stripe') return manual
      return (
        stripe ?? fail('PROVIDER_ERROR', 'Stripe manages this subscription, but Stripe is no longer configured in this gateway')
      )
    },
  }
}
