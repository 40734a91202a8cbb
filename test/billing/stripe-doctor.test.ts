// The doctor asks Stripe about the key and the prices, which otherwise only a customer's order would try.
import { beforeAll, expect, it } from 'vitest'
import { surroundings } from '../../src/cli/doctor-around.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { openStripeStandIn, type StripeStandIn, settings } from './stripe-stand-in.ts'

let stripe: StripeStandIn
const price = (id: string, more: object = {}) =>
  stripe.things.set(id, { id, active: true, currency: 'eur', recurring: { interval: 'month', interval_count: 1 }, ...more })

beforeAll(async () => {
  stripe = await openStripeStandIn()
})

const ask = (env: Record<string, string> = { ...settings, STRIPE_API_URL: stripe.url }) =>
  (surroundings.stripe as NonNullable<(typeof surroundings)[string]>)(readConfig(env))

it('says that an operator confirms payments where Stripe is not configured', async () => {
  expect(await ask({})).toBe('STRIPE_SECRET_KEY is not set; an operator confirms payments')
})

it('names the setting of a price that Stripe does not have, has archived, or bills in another way', async () => {
  await expect(ask()).rejects.toThrow('Stripe has no price price_pro; check STRIPE_PRICE_PRO')
  price('price_pro')
  await expect(ask()).rejects.toThrow('Stripe has no price price_max; check STRIPE_PRICE_MAX')
  price('price_max', { active: false })
  await expect(ask()).rejects.toThrow('the price price_max is archived at Stripe; check STRIPE_PRICE_MAX')
  for (const other of [{ recurring: null }, { recurring: { interval: 'year', interval_count: 1 } }, { currency: 'usd' }]) {
    price('price_max', other)
    await expect(ask()).rejects.toThrow('the price price_max at Stripe is not one in EUR for each month; check STRIPE_PRICE_MAX')
  }
  price('price_max')
  expect(await ask()).toBe('Stripe takes our key and has the prices of both plans')
})

it('says that Stripe refuses the key, or cannot be reached', async () => {
  stripe.mode = 'refusing'
  await expect(ask()).rejects.toThrow('Stripe refuses our key (Invalid API Key); check STRIPE_SECRET_KEY')
  stripe.mode = 'broken'
  await expect(ask()).rejects.toThrow('Stripe cannot be reached (broken)')
})
