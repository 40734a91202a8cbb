// What every billing provider does: takes orders of plans, and lets what runs end or go on.
import type { App } from '../core/app.ts'
import type { Checkout, Subscription } from '../generated/prisma/client.ts'
import type { Plan } from './plans.ts'

export type BillingProviderName = 'manual' | 'stripe'

/** A plan that somebody wants. */
export interface Order {
  checkoutId: string
  plan: Exclude<Plan['code'], 'free'>
  payer: { id: string; email: string; name: string }
  subscription: Subscription
}

export interface Opened {
  /** The provider's name for it. */
  externalId: string | null
  /** Where to pay; null where nothing is to be done online. */
  url: string | null
}

/** Its verbs may take long and are not called inside a transaction. Each throws PROVIDER_ERROR where the provider does not answer. */
export interface BillingProvider {
  name: BillingProviderName
  /** Asks for the money. Grants nothing. */
  open: (order: Order) => Promise<Opened>
  /** Whether a pending checkout can still be paid. @throws INVALID_STATE for one that was just paid. */
  isOpen: (checkout: Checkout) => Promise<boolean>
  /** Makes sure that it cannot be paid any more. */
  close: (checkout: Pick<Checkout, 'externalId'>) => Promise<void>
  /**
   * Lets the subscription end with its period, or go on after it, and stores what the provider made of that. False where
   * there is nobody to tell, so that the change is ours alone to store.
   */
  renew: (subscription: Subscription, goesOn: boolean) => Promise<boolean>
}

export interface BillingProviders {
  /** Who takes new orders here. */
  current: BillingProvider
  /** Who takes the money of that subscription. @throws PROVIDER_ERROR where that one is not set up any more. */
  of: (subscription: Pick<Subscription, 'provider'>) => BillingProvider
}

declare module '../core/app.ts' {
  interface App {
    billing: BillingProviders
  }
}

export type BillingApp = Pick<App, 'pool' | 'secrets' | 'config' | 'log'>
