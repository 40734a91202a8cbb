// Asks Stripe about the prices of the plans, for the operator.
import type { Stripe } from 'stripe'
import type { Secrets } from '../../core/config/config.ts'
import { openStripe } from './client.ts'

const settings = { pro: 'STRIPE_PRICE_PRO', max: 'STRIPE_PRICE_MAX' } as const

/** @throws a sentence when Stripe cannot be reached, refuses the key, or has no price that a plan can be ordered for. */
export async function checkPrices(secrets: Pick<Secrets, 'stripe'>): Promise<string> {
  const account = await openStripe({ secrets })
  if (!account) return 'STRIPE_SECRET_KEY is not set; an operator confirms payments'
  for (const plan of ['pro', 'max'] as const) {
    const id = account.settings.prices[plan]
    const price = await account.stripe.prices.retrieve(id).catch((error: Stripe.errors.StripeError) => {
      if (error.code === 'resource_missing') throw new Error(`Stripe has no price ${id}; check ${settings[plan]}`)
      if (error.statusCode === 401 || error.statusCode === 403)
        throw new Error(`Stripe refuses our key (${error.message}); check STRIPE_SECRET_KEY`)
      throw new Error(`Stripe cannot be reached (${error.message})`)
    })
    if (!price.active) throw new Error(`the price ${id} is archived at Stripe; check ${settings[plan]}`)
    if (price.recurring?.interval !== 'month' || price.recurring.interval_count !== 1 || price.currency !== 'eur')
      throw new Error(`the price ${id} at Stripe is not one in EUR for each month; check ${settings[plan]}`)
  }
  return 'Stripe takes our key and has the prices of both plans'
}
