// A gateway that takes payments through a Stripe stand-in, and people who pay there.
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { byHeader, checkoutsOf, openPerson, type Person, rowOf, type Site } from './rig.ts'
import { openStripeStandIn, pay, type StripeStandIn, sendEvent, settings } from './stripe-stand-in.ts'

export interface StripeSite extends Site {
  stripe: StripeStandIn
  gateway: OpenGateway
}

const withConsole = { CONSOLE_URL: 'https://console.example.com/' }

export async function openStripeSite(more: Record<string, string> = withConsole): Promise<StripeSite> {
  const stripe = await openStripeStandIn()
  const databaseUrl = await cloneDatabase()
  const env = { ROLES: 'http', STRIPE_API_URL: stripe.url, ...settings, ...more }
  const gateway = await openGateway({ databaseUrl, env })
  return { databaseUrl, url: gateway.url, stripe, gateway }
}

/** The Checkout Session of an order, by its URL. */
export function sessionOf({ stripe }: StripeSite, url: string) {
  return stripe.things.get(url.split('/').at(-1) as string)
}

/** A person who ordered the plan, and the open Checkout Session of the order. */
async function order(site: StripeSite, plan: 'pro' | 'max') {
  const person = await openPerson(site, 'free')
  const { data } = await byHeader(person, null, 'checkout', { plan })
  return { person, checkout: data, session: sessionOf(site, data.url) }
}

/** A person who ordered the plan and paid, with the event that reports it. */
export async function subscriber(site: StripeSite, plan: 'pro' | 'max' = 'pro') {
  const { person, checkout, session } = await order(site, plan)
  const paid = pay(site.stripe, session)
  const { status } = await sendEvent(site, 'checkout.session.completed', paid.session)
  if (status !== 200) throw new Error(`the event was answered ${status}`)
  return { person, checkout, ...paid }
}

export async function planOf(person: Person) {
  const { plan, status, cancelAtPeriodEnd } = (await byHeader(person, null, 'subscription')).data
  return { plan: plan.code, status, cancelAtPeriodEnd }
}

export type Customers = Awaited<ReturnType<typeof openCustomers>>

/** A gateway without a console, its Stripe stand-in, and the customers there. */
export async function openCustomers() {
  const site = await openStripeSite({})
  return {
    site,
    stripe: site.stripe,
    /** A person with an open Checkout Session that is not yet paid. */
    async customer(plan: 'pro' | 'max' = 'pro') {
      const { person, session } = await order(site, plan)
      return { person, session, id: session.customer as string }
    },
    /** The stored billing state of a person, without ids and times that differ between people. */
    async kept(person: Person) {
      const { plan, status, cancelAtPeriodEnd, provider, externalId } = await rowOf(site, person)
      const checkouts = (await checkoutsOf(site, person)).map((row) => `${row.plan} ${row.status}`)
      const payments = (await byHeader(person, null, 'payments')).data.map(
        (row: Record<string, unknown>) => `${row.amount} ${row.currency} ${row.status} ${row.description}`,
      )
      return { plan, status, cancelAtPeriodEnd, provider, has: externalId !== null, checkouts, payments: payments.sort() }
    },
  }
}
