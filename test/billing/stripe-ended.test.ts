// The end of an account that has an order at Stripe: nothing of it is charged afterwards.
import { beforeAll, expect, it } from 'vitest'
import { password } from '../accounts/person.ts'
import { byHeader, checkoutsOf, openPerson, type Person, rowOf } from './rig.ts'
import { openStripeSite, type StripeSite, sessionOf, subscriber } from './stripe-rig.ts'
import { makeSubscription, pay, sendEvent } from './stripe-stand-in.ts'

let site: StripeSite

beforeAll(async () => {
  site = await openStripeSite()
})

async function ordered() {
  const person = await openPerson(site, 'free')
  const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
  return { person, session: sessionOf(site, data.url) }
}

async function end({ api }: Person): Promise<number> {
  return (await api.delete('/api/me', { password })).status
}

it('leaves no open order that could still be paid', async () => {
  const { person, session } = await ordered()
  expect(session.status).toBe('open')
  expect(await end(person)).toBe(200)
  expect(session.status).toBe('expired')
})

it('leaves no order open that was placed while the account ended', async () => {
  const person = await openPerson(site, 'free')
  site.stripe.before = async () => {
    expect(await end(person)).toBe(200)
  }
  expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'UNAUTHORIZED' })
  const things = [...site.stripe.things.values()]
  const { id } = things.find(({ email }) => email === person.email)
  expect(things.filter(({ object, customer }) => object === 'checkout.session' && customer === id)).toMatchObject([
    { status: 'expired' },
  ])
  expect(await checkoutsOf(site, person)).toEqual([])
})

it('fails when a plan is ordered while the open orders are closed, and closes that order when it is repeated', async () => {
  const { person } = await ordered()
  let url = ''
  site.stripe.before = async () => {
    url = (await byHeader(person, null, 'checkout', { plan: 'max' })).data.url
  }
  expect(await end(person)).toBe(502)
  const session = sessionOf(site, url)
  expect(session.status).toBe('open')
  expect(await end(person)).toBe(200)
  expect(session.status).toBe('expired')
})

it('ends a subscription whose payment was not reported yet', async () => {
  const { person, session } = await ordered()
  const { subscription } = pay(site.stripe, session)
  expect(await end(person)).toBe(200)
  expect(subscription.status).toBe('canceled')
})

// Until the end of a period, Stripe would collect what is overdue, and what a change of the plan costs.
it.each(['active', 'past_due'])('cancels a subscription that is %s at once', async (status) => {
  const { person, subscription } = await subscriber(site)
  subscription.status = status
  await sendEvent(site, 'customer.subscription.updated', subscription)
  expect(await end(person)).toBe(200)
  expect(subscription.status).toBe('canceled')
})

it('cancels a subscription that would have lasted until the end of its period', async () => {
  const { person, subscription } = await subscriber(site)
  expect(await byHeader(person, null, 'cancel')).toMatchObject({ code: 'ok' })
  expect(await end(person)).toBe(200)
  expect(subscription.status).toBe('canceled')
})

it('cancels a subscription that no event told of', async () => {
  const { person } = await ordered()
  const { customerId } = await rowOf(site, person)
  const untold = makeSubscription(site.stripe, customerId, 'price_pro')
  expect(await end(person)).toBe(200)
  expect(untold.status).toBe('canceled')
})

it('ends the account of a person whose subscription Stripe does not have any more', async () => {
  const { person, subscription } = await subscriber(site)
  site.stripe.gone.add(subscription.id)
  expect(await end(person)).toBe(200)
})

it('stays inactive whatever Stripe tells afterwards', async () => {
  const { person, subscription, invoice } = await subscriber(site)
  expect(await end(person)).toBe(200)
  for (const status of ['active', 'canceled']) {
    subscription.status = status
    expect((await sendEvent(site, 'customer.subscription.updated', subscription)).status).toBe(200)
    expect((await sendEvent(site, 'invoice.paid', invoice)).status).toBe(200)
    expect((await rowOf(site, person)).status).toBe('inactive')
  }
})

it('fails while Stripe does not respond, and changes nothing', async () => {
  const { person, session } = await ordered()
  site.stripe.mode = 'broken'
  expect(await end(person)).toBe(502)
  site.stripe.mode = 'well'
  expect(session.status).toBe('open')
  expect(await end(person)).toBe(200)
  expect(session.status).toBe('expired')
})
