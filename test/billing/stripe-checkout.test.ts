// Billing through a Stripe stand-in: ordering, changing, cancelling, and Stripe outages.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { byHeader, checkoutsOf, openPerson, openTeam, rowOf } from './rig.ts'
import { openStripeSite, planOf, type StripeSite, sessionOf as sessionAt, subscriber as subscriberAt } from './stripe-rig.ts'
import { pay, type StripeStandIn, sendEvent } from './stripe-stand-in.ts'

let site: StripeSite
let stripe: StripeStandIn

beforeAll(async () => {
  site = await openStripeSite()
  stripe = site.stripe
})

afterEach(() => {
  stripe.mode = 'well'
})

const sessionOf = (url: string) => sessionAt(site, url)
const subscriber = (plan?: 'pro' | 'max') => subscriberAt(site, plan)

describe('a checkout', () => {
  it("creates a Checkout Session for the person's own customer, and grants nothing", async () => {
    const person = await openPerson(site, 'free')
    const { data } = await byHeader(person, null, 'checkout', { plan: 'max' })
    const { customerId } = await rowOf(site, person)
    expect(data).toEqual({ id: expect.any(String), provider: 'stripe', status: 'pending', url: expect.stringMatching(/^https:/) })
    expect(stripe.asked.at(-1)).toEqual({
      method: 'POST',
      path: '/v1/checkout/sessions',
      idempotencyKey: data.id,
      params: {
        mode: 'subscription',
        customer: customerId,
        client_reference_id: data.id,
        'line_items[0][price]': 'price_max',
        'line_items[0][quantity]': '1',
        'subscription_data[metadata][plan]': 'max',
        success_url: 'https://console.example.com/billing?checkout=completed',
        cancel_url: 'https://console.example.com/billing?checkout=cancelled',
      },
    })
    expect(stripe.things.get(customerId)).toMatchObject({ email: person.email })
    expect(await planOf(person)).toEqual({ plan: 'free', status: 'active', cancelAtPeriodEnd: false })
  })

  it('is answered the same while it is open; an order of another plan expires it, for the same customer', async () => {
    const person = await openPerson(site, 'free')
    const first = await byHeader(person, null, 'checkout', { plan: 'pro' })
    const again = await byHeader(person, null, 'checkout', { plan: 'pro' })
    expect(again.data).toEqual(first.data)
    const other = await byHeader(person, null, 'checkout', { plan: 'max' })
    expect(sessionOf(first.data.url).status).toBe('expired')
    expect(sessionOf(other.data.url)).toMatchObject({ status: 'open', customer: sessionOf(first.data.url).customer })
    expect((await checkoutsOf(site, person)).map(({ plan, status }) => `${plan} ${status}`)).toEqual([
      'pro expired',
      'max pending',
    ])
  })

  it('is created once for concurrent orders', async () => {
    const person = await openPerson(site, 'free')
    const both = await Promise.all([1, 2, 3].map(() => byHeader(person, null, 'checkout', { plan: 'pro' })))
    expect(new Set(both.map(({ data }) => data.id)).size).toBe(1)
    expect(await checkoutsOf(site, person)).toHaveLength(1)
  })

  it('that expired is replaced by a new one on the next order', async () => {
    const person = await openPerson(site, 'free')
    const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
    const session = Object.assign(sessionOf(data.url), { status: 'expired' })
    await sendEvent(site, 'checkout.session.expired', session)
    expect(await checkoutsOf(site, person)).toMatchObject([{ status: 'expired' }])
    expect((await byHeader(person, null, 'checkout', { plan: 'pro' })).data.id).not.toBe(data.id)
  })

  it('that was paid is detected on the next order, even if no event came', async () => {
    const person = await openPerson(site, 'free')
    const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
    pay(stripe, sessionOf(data.url))
    expect(await byHeader(person, null, 'checkout', { plan: 'max' })).toMatchObject({ code: 'INVALID_STATE' })
    expect(await planOf(person)).toMatchObject({ plan: 'pro', status: 'active' })
    expect(await checkoutsOf(site, person)).toMatchObject([{ status: 'completed' }])
  })

  it('is refused before any request to Stripe when the teams do not fit the plan', async () => {
    const person = await openPerson(site, 'max')
    for (let i = 0; i < 3; i++) await openTeam(site, person)
    const asked = stripe.asked.length
    expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS' })
    expect(stripe.asked).toHaveLength(asked)
  })

  it('is replayed under its Idempotency-Key without a request to Stripe', async () => {
    const person = await openPerson(site, 'free')
    const order = () => person.api.post('/api/billing/checkout', { plan: 'pro' }, { 'idempotency-key': 'k' })
    const first = await order()
    const asked = stripe.asked.length
    expect((await order()).body).toEqual(first.body)
    expect(stripe.asked).toHaveLength(asked)
  })
})

describe('a subscription at Stripe', () => {
  it('is active once it is paid, for the period that Stripe reports', async () => {
    const { person, subscription, checkout } = await subscriber('pro')
    const [item] = subscription.items.data
    expect(await rowOf(site, person)).toMatchObject({
      plan: 'pro',
      status: 'active',
      provider: 'stripe',
      externalId: subscription.id,
      currentPeriodStart: new Date(item.current_period_start * 1000),
      currentPeriodEnd: new Date(item.current_period_end * 1000),
    })
    expect(await checkoutsOf(site, person)).toMatchObject([{ id: checkout.id, status: 'completed' }])
  })

  it('changes its plan in the portal, where the person confirms the new price', async () => {
    const { person, subscription } = await subscriber('pro')
    const { data } = await byHeader(person, null, 'checkout', { plan: 'max' })
    const { params } = sessionOf(data.url)
    expect(data).toMatchObject({ status: 'pending', url: expect.stringContaining('portal') })
    expect(params).toMatchObject({
      return_url: 'https://console.example.com/billing',
      'flow_data[type]': 'subscription_update_confirm',
      'flow_data[subscription_update_confirm][subscription]': subscription.id,
      'flow_data[subscription_update_confirm][items][0][id]': subscription.items.data[0].id,
      'flow_data[subscription_update_confirm][items][0][price]': 'price_max',
    })
    expect(await planOf(person)).toMatchObject({ plan: 'pro' })
    subscription.items.data[0].price.id = 'price_max'
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await planOf(person)).toMatchObject({ plan: 'max' })
    expect((await checkoutsOf(site, person)).at(-1)).toMatchObject({ id: data.id, status: 'completed' })
  })

  it('is cancelled and resumed at Stripe', async () => {
    const { person, subscription } = await subscriber()
    expect((await byHeader(person, null, 'cancel')).data).toMatchObject({
      plan: { code: 'pro' },
      status: 'cancelled',
      cancelAtPeriodEnd: true,
      currentPeriodEnd: new Date(subscription.items.data[0].current_period_end * 1000).toISOString(),
    })
    expect(subscription.cancel_at_period_end).toBe(true)
    expect(await byHeader(person, null, 'cancel')).toMatchObject({ code: 'INVALID_STATE' })
    expect((await byHeader(person, null, 'resume')).data).toMatchObject({ status: 'active', cancelAtPeriodEnd: false })
    expect(subscription.cancel_at_period_end).toBe(false)
  })

  it('is resumed when the portal set its end as a timestamp', async () => {
    const { person, subscription } = await subscriber()
    subscription.cancel_at = subscription.items.data[0].current_period_end
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await planOf(person)).toMatchObject({ status: 'cancelled' })
    expect((await byHeader(person, null, 'resume')).data).toMatchObject({ status: 'active', cancelAtPeriodEnd: false })
    expect(subscription.cancel_at).toBe(null)
  })

  it('stays unchanged at Stripe when a cancellation is refused because of teams', async () => {
    const { person, subscription } = await subscriber()
    await openTeam(site, person)
    expect(await byHeader(person, null, 'cancel')).toMatchObject({ code: 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS' })
    expect(subscription.cancel_at_period_end).toBe(false)
  })
})

describe.each(['broken', 'silent', 'dripping', 'endless'] as const)('while Stripe is %s', (mode) => {
  it('grants nothing and stores nothing partial; the same request succeeds later', async () => {
    const fresh = await openPerson(site, 'free')
    const { person, subscription } = await subscriber()
    const before = await Promise.all([rowOf(site, fresh), rowOf(site, person)])
    stripe.mode = mode
    const order = () => fresh.api.post('/api/billing/checkout', { plan: 'pro' }, { 'idempotency-key': 'later' })
    const cancel = () => person.api.post('/api/billing/cancel', undefined, { 'idempotency-key': 'later' })
    const outcome = sendEvent(site, 'customer.subscription.updated', subscription)
    for (const answer of await Promise.all([order(), cancel()]))
      expect(answer).toMatchObject({ status: 502, body: { error: { code: 'PROVIDER_ERROR' } } })
    expect((await outcome).status).toBe(502)
    expect(await Promise.all([rowOf(site, fresh), rowOf(site, person)])).toEqual(before)
    expect(await checkoutsOf(site, fresh)).toEqual([])
    stripe.mode = 'well'
    expect((await order()).status).toBe(201)
    expect((await cancel()).body.data.status).toBe('cancelled')
  })
})

it('keeps the plan of a person for whom Stripe has no subscription', async () => {
  const person = await openPerson(site, 'pro')
  await byHeader(person, null, 'checkout', { plan: 'max' })
  const { customerId } = await rowOf(site, person)
  await sendEvent(site, 'customer.subscription.updated', { customer: customerId })
  expect(await planOf(person)).toMatchObject({ plan: 'pro', status: 'active' })
  const { rows } = await sql(site.databaseUrl).query('select provider from subscriptions where "userId" = $1', [person.userId])
  expect(rows).toEqual([{ provider: null }])
})
