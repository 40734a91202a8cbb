// Divergence from Stripe: lost events, replaced prices, and customers and plans that changed at Stripe.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { syncOverdue } from '../../src/billing/stripe/overdue.ts'
import { createAccount } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'
import { byHeader, checkoutsOf, openPerson, openTeam, rowOf } from './rig.ts'
import { openStripeSite, planOf, type StripeSite, sessionOf, subscriber } from './stripe-rig.ts'
import { makeSubscription, pay, type StripeStandIn, sendEvent, settings } from './stripe-stand-in.ts'

let site: StripeSite
let stripe: StripeStandIn

beforeAll(async () => {
  site = await openStripeSite()
  stripe = site.stripe
})

describe('a subscription whose events were lost', () => {
  const overdue = `provider = 'stripe', "currentPeriodEnd" = now() - interval '25 hours'`

  beforeEach(async () => {
    await sql(site.databaseUrl).query('update subscriptions set provider = null')
  })

  /** A Stripe customer whose period ended here; the job looks at earlier ones first. */
  async function late(fields = overdue) {
    const account = await createAccount(site.databaseUrl)
    const customer = `cus_${account.userId}`
    await sql(site.databaseUrl).query(
      `update subscriptions set ${fields}, plan = 'pro', "customerId" = $2, "updatedAt" = now() where "userId" = $1`,
      [account.userId, customer],
    )
    return { account, customer, subscription: makeSubscription(stripe, customer, 'price_pro') }
  }

  const sync = async () =>
    await syncOverdue(await openApp(site.databaseUrl, { STRIPE_API_URL: stripe.url, PUBLIC_URL: site.url, ...settings }))

  it('is synchronised with Stripe a day after its period ended, and others stay unchanged', async () => {
    const [renewed, ended] = [await late(), await late()]
    const others = [
      await late(`provider = 'stripe', "currentPeriodEnd" = now() - interval '23 hours'`),
      await late('provider = null'),
    ]
    ended.subscription.status = 'canceled'
    const before = await Promise.all(others.map(({ account }) => rowOf(site, account)))
    expect(await sync()).toBe(2)
    const [item] = renewed.subscription.items.data
    expect(await rowOf(site, renewed.account)).toMatchObject({
      status: 'active',
      externalId: renewed.subscription.id,
      currentPeriodEnd: new Date(item.current_period_end * 1000),
    })
    expect(await rowOf(site, ended.account)).toMatchObject({ plan: 'free', provider: null })
    expect(await Promise.all(others.map(({ account }) => rowOf(site, account)))).toEqual(before)
    expect(await sync()).toBe(0)
  })

  it('is synchronised although others before it fail, which are retried after it', async () => {
    const bad = [await late(), await late(), await late()]
    const good = await late()
    for (const { customer } of bad) stripe.gone.add(customer)
    // Three failures in a row end the run, because Stripe may be down.
    expect(await sync()).toBe(0)
    expect(await sync()).toBe(1)
    expect(await rowOf(site, good.account)).toMatchObject({ externalId: good.subscription.id })
    for (const { customer } of bad) stripe.gone.delete(customer)
    expect(await sync()).toBe(3)
  })

  it('is retried after a Stripe outage', async () => {
    const { account, subscription } = await late()
    stripe.mode = 'broken'
    expect(await sync()).toBe(0)
    stripe.mode = 'well'
    expect(await rowOf(site, account)).toMatchObject({ plan: 'pro', externalId: null })
    expect(await sync()).toBe(1)
    expect(await rowOf(site, account)).toMatchObject({ externalId: subscription.id })
  })
})

it('shows an expired period unchanged until Stripe renews it', async () => {
  const { person } = await subscriber(site)
  const period = { currentPeriodStart: '2026-01-05T00:00:00.000Z', currentPeriodEnd: '2026-02-05T00:00:00.000Z' }
  await sql(site.databaseUrl).query(
    'update subscriptions set "currentPeriodStart" = $2, "currentPeriodEnd" = $3 where "userId" = $1',
    [person.userId, period.currentPeriodStart, period.currentPeriodEnd],
  )
  expect((await byHeader(person, null, 'subscription')).data).toMatchObject({ plan: { code: 'pro' }, ...period })
})

describe('a subscription price that is no longer configured', () => {
  it('keeps the plan that the subscription was changed to, not its original plan', async () => {
    const { person, subscription } = await subscriber(site, 'pro')
    subscription.metadata = { plan: 'pro' }
    subscription.items.data[0].price.id = 'price_max'
    await sendEvent(site, 'customer.subscription.updated', subscription)
    subscription.items.data[0].price.id = 'price_max_of_last_year'
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await planOf(person)).toMatchObject({ plan: 'max', status: 'active' })
  })

  it("gives the plan of the subscription's metadata when the subscription is new here", async () => {
    const { person, subscription } = await subscriber(site, 'max')
    const { customerId } = await rowOf(site, person)
    subscription.status = 'canceled'
    const another = makeSubscription(stripe, customerId, 'price_of_last_year')
    another.metadata = { plan: 'pro' }
    await sendEvent(site, 'customer.subscription.created', another)
    expect(await rowOf(site, person)).toMatchObject({ plan: 'pro', externalId: another.id })
  })
})

describe('an account whose customer no longer exists at Stripe', () => {
  it('orders as a new customer, although an older order is pending', async () => {
    const person = await openPerson(site, 'free')
    const first = (await byHeader(person, null, 'checkout', { plan: 'pro' })).data
    const { customerId } = await rowOf(site, person)
    for (const name of [customerId, sessionOf(site, first.url).id]) stripe.gone.add(name)
    const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
    const session = sessionOf(site, data.url)
    expect(session).toMatchObject({ status: 'open', client_reference_id: data.id })
    expect((await rowOf(site, person)).customerId).toBe(session.customer)
    expect(session.customer).not.toBe(customerId)
    expect(await checkoutsOf(site, person)).toMatchObject([{ status: 'expired' }, { id: data.id, status: 'pending' }])
    await sendEvent(site, 'checkout.session.completed', pay(stripe, session).session)
    expect(await planOf(person)).toMatchObject({ plan: 'pro', status: 'active' })
  })

  it.each(['pro', 'max'] as const)('gets Checkout for %s, not the portal, although it had subscribed', async (plan) => {
    const { person, subscription } = await subscriber(site, 'pro')
    subscription.status = 'past_due'
    await sendEvent(site, 'customer.subscription.updated', subscription)
    for (const name of [subscription.customer, subscription.id]) stripe.gone.add(name)
    const { data } = await byHeader(person, null, 'checkout', { plan })
    expect(sessionOf(site, data.url)).toMatchObject({ status: 'open', price: `price_${plan}` })
  })
})

it('applies a plan that Stripe changed even when the teams do not fit it, and logs a warning', async () => {
  const { person, subscription } = await subscriber(site, 'max')
  for (const name of ['A', 'B', 'C']) await openTeam(site, person, [], name)
  subscription.items.data[0].price.id = 'price_pro'
  await sendEvent(site, 'customer.subscription.updated', subscription)
  expect(await planOf(person)).toMatchObject({ plan: 'pro' })
  const [line] = await site.gateway.line(/^.*the plan does not fit the teams.*$/)
  expect(JSON.parse(line)).toMatchObject({
    userId: person.userId,
    plan: 'pro',
    fault: expect.stringMatching(/^Pro has 2 teams of 4 seats and you own 3/),
  })
})
