// A gateway that takes payments through a Stripe stand-in, and people who pay there.
import { cloneDatabase, type Gateway, startGateway } from '../kit/kit.ts'
import { byHeader, openPerson, type Person, type Site } from './rig.ts'
import { openStripeStandIn, pay, type StripeStandIn, sendEvent, settings } from './stripe-stand-in.ts'

export interface StripeSite extends Site {
  stripe: StripeStandIn
  gateway: Gateway
}

export async function openStripeSite(): Promise<StripeSite> {
  const stripe = await openStripeStandIn()
  const databaseUrl = await cloneDatabase()
  const env = { ROLES: 'http', CONSOLE_URL: 'https://console.example.com/', STRIPE_API_URL: stripe.url, ...settings }
  const gateway = await startGateway({ databaseUrl, env })
  return { databaseUrl, url: gateway.url, stripe, gateway }
}

/** The Checkout Session of an order, by its URL. */
export function sessionOf({ stripe }: StripeSite, url: string) {
  return stripe.things.get(url.split('/').at(-1) as string)
}

/** A person who ordered the plan and paid, with the event that reports it. */
export async function subscriber(site: StripeSite, plan: 'pro' | 'max' = 'pro') {
  const person = await openPerson(site, 'free')
  const { data } = await byHeader(person, null, 'checkout', { plan })
  const paid = pay(site.stripe, sessionOf(site, data.url))
  const { status } = await sendEvent(site, 'checkout.session.completed', paid.session)
  if (status !== 200) throw new Error(`the event was answered ${status}`)
  return { person, checkout: data, ...paid }
}

export async function planOf(person: Person) {
  const { plan, status, cancelAtPeriodEnd } = (await byHeader(person, null, 'subscription')).data
  return { plan: plan.code, status, cancelAtPeriodEnd }
}
