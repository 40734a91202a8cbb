// Interface of the billing providers: they take orders of plans, and let subscriptions end or go on.
import type { App } from '../core/app.ts'
import type { Checkout, Subscription } from '../generated/prisma/client.ts'
import type { Plan } from './plans.ts'

export type BillingProviderName = 'manual' | 'stripe'

/** An order of a plan. */
export interface Order {
  checkoutId: string
  plan: Exclude<Plan['code'], 'free'>
  payer: { id: string; email: string; name: string }
  subscription: Subscription
}

export interface Opened {
  /** The provider's id of the order. */
  externalId: string | null
  /** The payment page; null if nothing is to be done online. */
  url: string | null
}

/** The methods may take long, so call them outside of transactions. Each throws PROVIDER_ERROR when the provider does not respond. */
export interface BillingProvider {
  name: BillingProviderName
  /** Requests the payment. Grants nothing. */
  open: (order: Order) => Promise<Opened>
  /** Returns whether a pending checkout can still be paid. @throws INVALID_STATE when it was just paid. */
  isOpen: (checkout: Checkout) => Promise<boolean>
  /** Makes sure that the checkout cannot be paid. */
  close: (checkout: Pick<Checkout, 'externalId'>) => Promise<void>
  /**
   * Lets the subscription end with its period, or go on after it, and stores the resulting state as the provider reports it. Returns false
   * if there is no provider to ask, so that the caller stores the change.
   */
  renew: (subscription: Subscription, goesOn: boolean) => Promise<boolean>
  /** Ends at once all that the customer pays for, also what the provider has not told of yet. Stores nothing. */
  end: (subscription: Pick<Subscription, 'customerId'>) => Promise<void>
}

export interface BillingProviders {
  /** The provider that takes new orders. */
  current: BillingProvider
  /** Returns the provider that bills the subscription. @throws PROVIDER_ERROR when that provider is not configured. */
  of: (subscription: Pick<Subscription, 'provider'>) => BillingProvider
}

export type BillingApp = Pick<App, 'pool' | 'db' | 'secrets' | 'config' | 'log'>
