// Concurrency with a request to Stripe: other orders, new teams, retries of the same request, and a crash midway.
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { byHeader, checkoutsOf, openPerson, openTeam, type Person, rowOf } from './rig.ts'
import { openStripeSite, planOf, type StripeSite, subscriber } from './stripe-rig.ts'
import { makeSubscription, type StripeStandIn, sendEvent } from './stripe-stand-in.ts'

let site: StripeSite
let stripe: StripeStandIn

beforeAll(async () => {
  site = await openStripeSite()
  stripe = site.stripe
})

afterEach(() => {
  stripe.mode = 'well'
  stripe.gate = null
})

/** The prices of the person's open Checkout Sessions. */
async function payable(person: Person) {
  const { customerId } = await rowOf(site, person)
  const sessions = [...stripe.things.values()].filter((thing) => thing.object === 'checkout.session')
  return sessions.filter(({ customer, status }) => customer === customerId && status === 'open').map(({ price }) => price)
}

describe('an order', () => {
  it('leaves only one session payable when another plan is ordered concurrently', async () => {
    const person = await openPerson(site, 'free')
    stripe.before = async () => {
      expect(await byHeader(person, null, 'checkout', { plan: 'max' })).toMatchObject({ code: 'ok' })
    }
    expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'INVALID_STATE' })
    expect(await payable(person)).toEqual(['price_max'])
    expect(await checkoutsOf(site, person)).toMatchObject([{ plan: 'max', status: 'pending' }])
    expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'ok' })
    expect(await payable(person)).toEqual(['price_pro'])
  })

  it('returns the concurrent order of the same plan, the only session that is payable', async () => {
    const person = await openPerson(site, 'free')
    let first: unknown
    stripe.before = async () => {
      first = (await byHeader(person, null, 'checkout', { plan: 'pro' })).data
    }
    expect((await byHeader(person, null, 'checkout', { plan: 'pro' })).data).toEqual(first)
    expect(await payable(person)).toEqual(['price_pro'])
  })

  it('waits for others of the same person, so that one person does not take what Stripe allows all of them together', async () => {
    const person = await openPerson(site, 'free')
    const before = stripe.asked.length
    // A request that is repeated after a time limit has the same key.
    const asking = () => new Set(stripe.asked.slice(before).map(({ idempotencyKey }) => idempotencyKey)).size
    const { promise, resolve: open } = Promise.withResolvers<void>()
    stripe.gate = promise
    // Three at a time, and twenty that wait.
    const orders = Array.from({ length: 24 }, () => byHeader(person, null, 'checkout', { plan: 'pro' }))
    expect(await Promise.race(orders)).toMatchObject({ code: 'API_RATE_LIMIT_EXCEEDED' })
    await until(() => asking() >= 3)
    expect(asking()).toBe(3)
    open()
    await Promise.all(orders)
    expect(await payable(person)).toEqual(['price_pro'])
  })

  it('expires every other open order, and is answered the same again', async () => {
    const person = await openPerson(site, 'free')
    const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
    // Older gateways could leave two orders open at once.
    await sql(site.databaseUrl).query(
      `insert into checkouts (id, "userId", plan, provider, "createdAt")
       values (gen_random_uuid(), $1, 'max', 'stripe', now() - interval '1 minute')`,
      [person.userId],
    )
    expect((await byHeader(person, null, 'checkout', { plan: 'pro' })).data).toEqual(data)
    expect((await checkoutsOf(site, person)).map(({ plan, status }) => `${plan} ${status}`)).toEqual([
      'max expired',
      'pro pending',
    ])
  })

  it('is refused and cannot be paid when a team created concurrently does not fit the plan', async () => {
    const person = await openPerson(site, 'max')
    for (let i = 0; i < 2; i++) await openTeam(site, person)
    stripe.before = async () => {
      expect((await person.api.post('/api/teams', { name: 'Third' })).status).toBe(201)
    }
    expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS' })
    expect(await payable(person)).toEqual([])
    expect(await checkoutsOf(site, person)).toEqual([])
  })

  it('is refused and cannot be paid when the person subscribed concurrently', async () => {
    const person = await openPerson(site, 'free')
    await byHeader(person, null, 'checkout', { plan: 'pro' })
    const { customerId } = await rowOf(site, person)
    stripe.before = async () => {
      await sendEvent(site, 'customer.subscription.created', makeSubscription(stripe, customerId, 'price_pro'))
    }
    expect(await byHeader(person, null, 'checkout', { plan: 'max' })).toMatchObject({ code: 'INVALID_STATE' })
    expect(await payable(person)).not.toContain('price_max')
  })
})

describe('a cancellation', () => {
  const cancel = (person: Person, key = 'cancel') => person.api.post('/api/billing/cancel', undefined, { 'idempotency-key': key })

  it('is refused and undone at Stripe when a team created concurrently does not fit Free', async () => {
    const { person, subscription } = await subscriber(site)
    stripe.before = async () => {
      expect((await person.api.post('/api/teams', { name: 'First' })).status).toBe(201)
    }
    const refused = await cancel(person)
    expect(refused.body.error).toMatchObject({ code: 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS' })
    expect(subscription.cancel_at_period_end).toBe(false)
    expect(await planOf(person)).toEqual({ plan: 'pro', status: 'active', cancelAtPeriodEnd: false })
    expect((await cancel(person)).body).toEqual(refused.body)
  })

  it('is in progress for a concurrent retry, and is replayed once it is answered', async () => {
    const { person } = await subscriber(site)
    let meanwhile: unknown
    stripe.before = async () => {
      meanwhile = (await cancel(person)).body.error.code
    }
    const first = await cancel(person)
    expect(meanwhile).toBe('IDEMPOTENCY_IN_PROGRESS')
    expect([first.body.data.status, first.headers.get('idempotency-replayed')]).toEqual(['cancelled', null])
    const again = await cancel(person)
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  it('succeeds on retry when Stripe applied it but its response was lost', async () => {
    const { person, subscription } = await subscriber(site)
    stripe.before = async () => {
      await sendEvent(site, 'customer.subscription.updated', subscription)
      stripe.mode = 'broken'
    }
    expect((await cancel(person)).body.error.code).toBe('PROVIDER_ERROR')
    stripe.mode = 'well'
    expect(await planOf(person)).toMatchObject({ status: 'cancelled' })
    expect((await cancel(person)).body.data.status).toBe('cancelled')
    expect((await cancel(person, 'another')).body.error.code).toBe('INVALID_STATE')
  })

  it('is in progress for a minute after its process died midway, then runs again', async () => {
    const { person } = await subscriber(site)
    const first = await cancel(person)
    const cutOff = (secondsAgo: number) =>
      sql(site.databaseUrl).query(
        `update idempotency_keys set result = null, "createdAt" = now() - make_interval(secs => $2) where "workspaceId" = $1`,
        [person.workspaceId, secondsAgo],
      )
    await cutOff(50)
    expect((await cancel(person)).body.error.code).toBe('IDEMPOTENCY_IN_PROGRESS')
    await cutOff(61)
    const again = await cancel(person)
    expect([again.body, again.headers.get('idempotency-replayed')]).toEqual([first.body, null])
  })
})
