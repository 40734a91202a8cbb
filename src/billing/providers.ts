// Which billing providers this gateway has: Stripe where it is set up, and an operator always.
import { fail } from '../core/errors.ts'
import { manual } from './manual.ts'
import type { BillingApp, BillingProviders } from './provider.ts'
import { createStripeProvider } from './stripe/provider.ts'

export function createBillingProviders(app: BillingApp): BillingProviders {
  const stripe = app.secrets.stripe ? createStripeProvider(app) : null
  return {
    current: stripe ?? manual,
    of({ provider }) {
      if (provider !== 'stripe') return manual
      return stripe ?? fail('PROVIDER_ERROR', 'Stripe takes the money of this subscription and is not set up here any more')
    },
  }
}
