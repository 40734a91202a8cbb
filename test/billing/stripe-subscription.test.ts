// The gateway maps each subscription update from Stripe to a plan and a status, and lets no outdated one replace a newer state.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { byHeader, rowOf } from './rig.ts'
import { type Customers, openCustomers, planOf } from './stripe-rig.ts'
import { makeSubscription, pay, sendEvent } from './stripe-stand-in.ts'

let site: Customers['site']
let stripe: Customers['stripe']
let customer: Customers['customer']
let kept: Customers['kept']

beforeAll(async () => {
  ;({ site, stripe, customer, kept } = await openCustomers())
})

describe('a subscription update from Stripe', () => {
  const meanings: [string, object, object][] = [
    ['trialing', {}, { plan: 'pro', status: 'active' }],
    ['past_due', {}, { plan: 'pro', status: 'past_due' }],
    ['unpaid', {}, { plan: 'pro', status: 'inactive' }],
    ['paused', {}, { plan: 'pro', status: 'inactive' }],
    ['paused', { cancel_at_period_end: true }, { plan: 'pro', status: 'inactive', cancelAtPeriodEnd: true }],
    ['past_due', { cancel_at_period_end: true }, { plan: 'pro', status: 'cancelled', cancelAtPeriodEnd: true }],
    ['active', { cancel_at_period_end: true }, { plan: 'pro', status: 'cancelled', cancelAtPeriodEnd: true }],
    ['canceled', {}, { plan: 'free', status: 'active', provider: null, has: false }],
    ['incomplete_expired', {}, { plan: 'free', status: 'active', provider: null, has: false }],
  ]

  it.each(meanings)('maps %s %j to %j', async (status, more, meaning) => {
    const { person, session } = await customer()
    const { subscription } = pay(stripe, session)
    await sendEvent(site, 'checkout.session.completed', session)
    Object.assign(subscription, { status }, more)
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await kept(person)).toMatchObject(meaning)
  })

  it('that sets its end after a later period cancels nothing yet, and the usage begins at 0 with each period', async () => {
    const { person, session } = await customer()
    const { subscription } = pay(stripe, session)
    const [period] = subscription.items.data
    const length = period.current_period_end - period.current_period_start
    subscription.cancel_at = period.current_period_end + 2 * length
    const report = () => sendEvent(site, 'customer.subscription.updated', subscription)
    const renew = async () => {
      period.current_period_start += length
      period.current_period_end += length
      await report()
    }
    const used = async () => (await byHeader(person, null, 'usage')).data.usage.messagesCount
    await report()
    expect(await planOf(person)).toEqual({ plan: 'pro', status: 'active', cancelAtPeriodEnd: false })
    expect((await rowOf(site, person)).currentPeriodEnd).toEqual(new Date(period.current_period_end * 1000))
    await sql(site.databaseUrl).query('update usage set "messagesCount" = 7 where "userId" = $1', [person.userId])
    expect(await used()).toBe(7)
    await renew()
    expect(await used()).toBe(0)
    expect(await planOf(person)).toMatchObject({ status: 'active' })
    await renew()
    expect(await planOf(person)).toEqual({ plan: 'pro', status: 'cancelled', cancelAtPeriodEnd: true })
    expect((await rowOf(site, person)).currentPeriodEnd).toEqual(new Date(subscription.cancel_at * 1000))
  })

  it('about an ended subscription does not replace the running one', async () => {
    const { person, session, id } = await customer()
    const { subscription } = pay(stripe, session)
    subscription.status = 'canceled'
    const running = makeSubscription(stripe, id, 'price_max')
    for (const event of [running, subscription, running, subscription])
      await sendEvent(site, 'customer.subscription.deleted', event)
    expect(await rowOf(site, person)).toMatchObject({ plan: 'max', status: 'active', externalId: running.id })
  })

  it('does not replace a newer state with an outdated response', async () => {
    const { person, session } = await customer()
    const { subscription } = pay(stripe, session)
    // While the first response is in transit, the subscription changes and the newer state is stored.
    stripe.before = async () => {
      subscription.items.data[0].price.id = 'price_max'
      await sendEvent(site, 'customer.subscription.updated', subscription)
      expect(await rowOf(site, person)).toMatchObject({ plan: 'max' })
    }
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await rowOf(site, person)).toMatchObject({ plan: 'max', status: 'active' })
  })

  it('does not replace a newer state with an outdated response when the newer state equals the stored one', async () => {
    const { person, session } = await customer()
    const { subscription } = pay(stripe, session)
    await sendEvent(site, 'checkout.session.completed', session)
    subscription.cancel_at_period_end = true
    stripe.before = async () => {
      subscription.cancel_at_period_end = false
      await sendEvent(site, 'customer.subscription.updated', subscription)
    }
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await rowOf(site, person)).toMatchObject({ plan: 'pro', status: 'active', cancelAtPeriodEnd: false })
  })

  it('restores a subscription that was already recorded as ended', async () => {
    const { person, session } = await customer()
    const { subscription } = pay(stripe, session)
    await sendEvent(site, 'checkout.session.completed', session)
    await sql(site.databaseUrl).query(
      `update subscriptions set plan = 'free', provider = null, "externalId" = null where "userId" = $1`,
      [person.userId],
    )
    await sendEvent(site, 'customer.subscription.updated', subscription)
    expect(await rowOf(site, person)).toMatchObject({ plan: 'pro', externalId: subscription.id })
  })
})
