// Billing without a payment service: a plan is ordered, an operator confirms it, and a cancelled one ends with its period.
import { beforeAll, describe, expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { byHeader, checkoutsOf, openPerson, type Person, rowOf, type Site, ways } from './rig.ts'

let site: Site

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  const { url } = await openGateway({ databaseUrl, env: { ROLES: 'http' } })
  site = { databaseUrl, url }
})

const now = new Date()
const month = {
  start: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())),
  end: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)),
}
const monthName = now.toLocaleString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

async function gateway(...args: string[]) {
  return await command(args, { databaseUrl: site.databaseUrl })
}

async function paymentsOf(person: Person) {
  return (await byHeader(person, null, 'payments')).data
}

async function set(person: Person, fields: string): Promise<void> {
  await sql(site.databaseUrl).query(`update subscriptions set ${fields} where "userId" = $1`, [person.userId])
}

describe.each(ways)('a plan that is ordered %s', (_, ask) => {
  it('is pending, has no payment URL, and grants nothing', async () => {
    const person = await openPerson(site, 'free')
    const { data } = await ask(person, null, 'checkout', { plan: 'pro' })
    expect(data).toEqual({ id: expect.any(String), provider: 'manual', status: 'pending', url: null })
    expect((await ask(person, null, 'subscription')).data).toMatchObject({ plan: { code: 'free' }, status: 'active' })
  })

  it('is refused when it is already the current plan', async () => {
    const person = await openPerson(site, 'pro')
    expect(await ask(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'INVALID_STATE' })
    expect(await checkoutsOf(site, person)).toEqual([])
  })
})

describe('an order', () => {
  it('is answered 201 by REST', async () => {
    const person = await openPerson(site, 'free')
    expect((await person.api.post('/api/billing/checkout', { plan: 'pro' })).status).toBe(201)
  })

  it('is answered the same while open, even under concurrency, and expires on an order of another plan', async () => {
    const person = await openPerson(site, 'free')
    const orders = await Promise.all(Array.from({ length: 5 }, () => byHeader(person, null, 'checkout', { plan: 'pro' })))
    expect(new Set(orders.map(({ data }) => data.id)).size).toBe(1)
    const other = await byHeader(person, null, 'checkout', { plan: 'max' })
    expect(await checkoutsOf(site, person)).toMatchObject([
      { id: orders[0]?.data.id, plan: 'pro', status: 'expired' },
      { id: other.data.id, plan: 'max', status: 'pending' },
    ])
  })

  it('is replayed under its Idempotency-Key, even after it was confirmed', async () => {
    const person = await openPerson(site, 'free')
    const order = () => person.api.post('/api/billing/checkout', { plan: 'pro' }, { 'idempotency-key': 'order' })
    const first = await order()
    await gateway('account', 'plan', '--email', person.email, '--plan', 'pro')
    const second = await order()
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    const graph = () => person.api.graphql('mutation { checkout(input: { plan: max, idempotencyKey: "o" }) { id } }')
    expect((await graph()).body).toEqual((await graph()).body)
  })
})

describe('the operator', () => {
  it('lists and confirms an order, which records one payment', async () => {
    const person = await openPerson(site, 'free')
    const { data } = await byHeader(person, null, 'checkout', { plan: 'pro' })
    const listed = JSON.parse((await gateway('checkout', 'list', '--json')).stdout)
    expect(listed.find((row: { id: string }) => row.id === data.id)).toEqual({
      id: data.id,
      email: person.email,
      plan: 'pro',
      provider: 'manual',
      createdAt: expect.any(String),
    })
    expect((await gateway('checkout', 'list')).stdout).toContain(`${data.id}  ${person.email}  pro  manual  `)
    for (let i = 0; i < 2; i++) {
      expect((await gateway('account', 'plan', '--email', person.email, '--plan', 'pro')).stdout).toBe(
        `${person.email} is now on the plan pro\n`,
      )
    }
    expect((await byHeader(person, null, 'subscription')).data).toEqual({
      plan: { code: 'pro', name: 'Pro' },
      status: 'active',
      currentPeriodStart: month.start.toISOString(),
      currentPeriodEnd: month.end.toISOString(),
      cancelAtPeriodEnd: false,
    })
    expect(await paymentsOf(person)).toEqual([
      {
        id: expect.any(String),
        amount: 19,
        currency: 'EUR',
        status: 'paid',
        description: `Pro, ${monthName}`,
        createdAt: expect.any(String),
      },
    ])
    expect(await checkoutsOf(site, person)).toMatchObject([{ status: 'completed' }])
    expect((await gateway('checkout', 'list')).stdout).not.toContain(data.id)
  })

  it('does not list the orders that are paid through Stripe', async () => {
    const person = await openPerson(site, 'free')
    await sql(site.databaseUrl).query(
      `insert into checkouts (id, "userId", plan, provider) values (gen_random_uuid(), $1, 'pro', 'stripe')`,
      [person.userId],
    )
    expect((await gateway('checkout', 'list')).stdout).not.toContain(person.email)
  })

  it('grants a plan that was not ordered, without recording a payment', async () => {
    const person = await openPerson(site, 'free')
    await byHeader(person, null, 'checkout', { plan: 'pro' })
    await gateway('account', 'plan', '--email', person.email, '--plan', 'max')
    expect(await rowOf(site, person)).toMatchObject({ plan: 'max', status: 'active', provider: 'manual' })
    expect(await paymentsOf(person)).toEqual([])
    expect(await checkoutsOf(site, person)).toMatchObject([{ plan: 'pro', status: 'pending' }])
  })

  it('cannot change the plan of an account that pays through Stripe', async () => {
    const person = await openPerson(site, 'pro')
    await set(person, `provider = 'stripe'`)
    const { code, stderr } = await gateway('account', 'plan', '--email', person.email, '--plan', 'free')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^Stripe manages the subscription/) })
    expect(await rowOf(site, person)).toMatchObject({ plan: 'pro', provider: 'stripe' })
  })
})

describe.each(ways)('a subscription that is cancelled %s', (_, ask) => {
  it('stays usable until its period ends, and can be resumed until then', async () => {
    const person = await openPerson(site, 'pro')
    await set(person, `"currentPeriodStart" = '2020-01-01T00:00:00Z', "currentPeriodEnd" = '2020-02-01T00:00:00Z'`)
    const cancelled = await ask(person, null, 'cancel')
    expect(cancelled.data).toEqual({
      plan: { code: 'pro', name: 'Pro' },
      status: 'cancelled',
      currentPeriodStart: month.start.toISOString(),
      currentPeriodEnd: month.end.toISOString(),
      cancelAtPeriodEnd: true,
    })
    expect(await rowOf(site, person)).toMatchObject({ currentPeriodStart: month.start, currentPeriodEnd: month.end })
    const query = 'mutation { createContactGroup(input: { name: "Still" }) { id } }'
    expect((await person.api.graphql(query)).body.errors).toBeUndefined()
    expect(await ask(person, null, 'cancel')).toMatchObject({ code: 'INVALID_STATE' })
    const resumed = await ask(person, null, 'resume')
    expect(resumed.data).toEqual({ ...cancelled.data, status: 'active', cancelAtPeriodEnd: false })
    expect(await ask(person, null, 'resume')).toMatchObject({ code: 'INVALID_STATE' })
  })

  it('counts as Free once its period is over, even before a job has recorded it', async () => {
    const person = await openPerson(site, 'pro')
    await ask(person, null, 'cancel')
    await set(person, `"currentPeriodEnd" = now()`)
    expect((await ask(person, null, 'subscription')).data).toEqual({
      plan: { code: 'free', name: 'Free' },
      status: 'active',
      currentPeriodStart: month.start.toISOString(),
      currentPeriodEnd: month.end.toISOString(),
      cancelAtPeriodEnd: false,
    })
    for (const change of ['cancel', 'resume'] as const)
      expect(await ask(person, null, change)).toMatchObject({ code: 'INVALID_STATE' })
    expect(await ask(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'ok' })
  })

  it('is refused on Free', async () => {
    const person = await openPerson(site, 'free')
    expect(await ask(person, null, 'cancel')).toMatchObject({ code: 'INVALID_STATE' })
  })
})

describe('a subscription', () => {
  it('can be ordered again after cancellation, and the operator activates it', async () => {
    const person = await openPerson(site, 'pro')
    await byHeader(person, null, 'cancel')
    expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'ok' })
    await gateway('account', 'plan', '--email', person.email, '--plan', 'pro')
    expect(await rowOf(site, person)).toMatchObject({ plan: 'pro', status: 'active', cancelAtPeriodEnd: false })
    expect(await paymentsOf(person)).toHaveLength(1)
  })

  it('is usable when past due; an inactive one is not, but can be ordered', async () => {
    const person = await openPerson(site, 'pro')
    const make = (name: string) =>
      person.api.graphql('mutation($name: String!) { createContactGroup(input: { name: $name }) { id } }', { name })
    await set(person, `status = 'past_due'`)
    expect((await make('a')).body.errors).toBeUndefined()
    await set(person, `status = 'inactive'`)
    expect((await make('b')).body.errors[0].extensions.code).toBe('SUBSCRIPTION_INACTIVE')
    expect(await byHeader(person, null, 'cancel')).toMatchObject({ code: 'INVALID_STATE' })
    expect(await byHeader(person, null, 'checkout', { plan: 'pro' })).toMatchObject({ code: 'ok' })
  })
})
