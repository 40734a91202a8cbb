// Stripe webhook events are trusted only by their signature, are idempotent, and lead to the same state in any order.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { send } from '../promises/wire.ts'
import { type Customers, openCustomers } from './stripe-rig.ts'
import { makeInvoice, makeSubscription, pay, sendEvent, settings } from './stripe-stand-in.ts'

let site: Customers['site']
let stripe: Customers['stripe']
let customer: Customers['customer']
let kept: Customers['kept']

beforeAll(async () => {
  ;({ site, stripe, customer, kept } = await openCustomers())
})

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]))
}

describe('a Stripe event', () => {
  it('is refused and changes nothing when its signature is missing, wrong or older than 300 s', async () => {
    const { person, session } = await customer()
    const paid = pay(stripe, session)
    const before = await kept(person)
    const how = [{ secret: 'whsec_other' }, { ageSeconds: 301 }, { signature: '' }, { signature: 't=1,v1=00' }]
    for (const forged of how) {
      expect(await sendEvent(site, 'checkout.session.completed', paid.session, forged)).toMatchObject({
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR', message: expect.stringMatching(/^Stripe-Signature: /) } },
      })
    }
    const bare = await fetch(`${site.url}/api/billing/stripe/webhook`, { method: 'POST' })
    expect(bare.status).toBe(400)
    expect(await kept(person)).toEqual(before)
    expect((await sendEvent(site, 'checkout.session.completed', paid.session, { ageSeconds: 290 })).status).toBe(200)
  })

  it('that is not signed with STRIPE_WEBHOOK_SECRET is told in the log, once a minute at most', async () => {
    const gateway = await openGateway({ databaseUrl: await cloneDatabase(), env: settings })
    for (const type of ['invoice.paid', 'charge.refunded']) await sendEvent(gateway, type, {}, { secret: 'whsec_other' })
    await gateway.line(/STRIPE_WEBHOOK_SECRET/)
    const told = gateway.logs.filter((line) => line.includes('STRIPE_WEBHOOK_SECRET')).map((line) => JSON.parse(line).msg)
    expect(told).toEqual(['an event of Stripe was refused: it is not signed with STRIPE_WEBHOOK_SECRET'])
  })

  it('is refused before its body is read when the signature cannot be valid or the body is too large', async () => {
    const head = 'POST /api/billing/stripe/webhook HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    const at = Math.floor(Date.now() / 1000)
    const v1 = `v1=${'a'.repeat(64)}`
    // The request announces a body but sends none of its bytes.
    for (const signature of [
      '',
      'x',
      `t=${at}`,
      v1,
      `t=${at},v1=00`,
      `t=${at - 301},${v1}`,
      `t=soon,${v1}`,
      `t=${at},v0=${'a'.repeat(64)}`,
    ]) {
      const asked = `${head}Stripe-Signature: ${signature}\r\nContent-Length: 1000\r\n\r\n`
      expect((await send(site, asked, /Stripe-Signature: must be/)).text).toMatch(/^HTTP\/1\.1 400/)
    }
    const large = `${head}Stripe-Signature: t=${at},${v1}\r\nContent-Length: 262145\r\n\r\n`
    expect((await send(site, large, /PAYLOAD_TOO_LARGE/)).text).toMatch(/^HTTP\/1\.1 413/)
  })

  it('changes nothing for a customer when Stripe returns records of another customer', async () => {
    const [mine, theirs] = [await customer(), await customer('max')]
    const paid = pay(stripe, theirs.session)
    const before = await kept(mine.person)
    // A list and records of another customer than the one requested.
    const { subscription, invoice } = paid
    stripe.lies.set(`/v1/subscriptions?customer=${mine.id}`, { object: 'list', data: [subscription] })
    await sendEvent(site, 'customer.subscription.updated', { ...subscription, customer: mine.id })
    await sendEvent(site, 'invoice.paid', { ...invoice, customer: mine.id })
    await sendEvent(site, 'charge.refunded', { refunded: true, payment_intent: invoice.of, customer: mine.id })
    await sendEvent(site, 'checkout.session.completed', { ...theirs.session, customer: mine.id })
    expect(await kept(mine.person)).toEqual(before)
    stripe.lies.clear()
    await sendEvent(site, 'checkout.session.completed', paid.session)
    await sendEvent(site, 'invoice.paid', invoice)
    expect(await kept(theirs.person)).toMatchObject({ plan: 'max', status: 'active', checkouts: ['max completed'] })
  })

  it('about an unknown customer or of an unhandled type is acknowledged and ignored', async () => {
    const subscription = makeSubscription(stripe, 'cus_unknown', 'price_pro')
    const events: [string, object][] = [
      ['customer.subscription.updated', subscription],
      ['checkout.session.completed', { status: 'complete', customer: 'cus_unknown', client_reference_id: 'nonsense' }],
      ['checkout.session.completed', { status: 'complete', customer: null, client_reference_id: null }],
      ['invoice.paid', makeInvoice(stripe, 'cus_unknown', 'price_pro', 'paid')],
      ['charge.refunded', { refunded: true, payment_intent: 'pi_unknown', customer: 'cus_unknown' }],
      ['product.created', { id: 'prod_1' }],
    ]
    for (const [type, object] of events)
      expect(await sendEvent(site, type, object)).toEqual({ status: 200, body: { data: { received: true } } })
  })

  it("of a session that names another account's order completes nothing", async () => {
    const [victim, thief] = await Promise.all([customer(), customer()])
    const session = { ...victim.session, status: 'complete', customer: thief.id }
    await sendEvent(site, 'checkout.session.completed', session)
    expect(await kept(victim.person)).toMatchObject({ plan: 'free', checkouts: ['pro pending'] })
  })

  it('has no endpoint when Stripe is not configured', async () => {
    const { url } = await openGateway({ databaseUrl: site.databaseUrl, env: { ROLES: 'http' } })
    expect((await sendEvent({ url }, 'product.created', {})).status).toBe(404)
    expect((await api(site).get('/api/billing/stripe/webhook')).status).toBe(405)
  })
})

it('reaches the same state for events in any order, each delivered twice', async () => {
  const names = ['completed', 'created', 'updated', 'paid'] as const
  const ends = new Set<string>()
  for (const order of permutations(names)) {
    const { person, session } = await customer('max')
    const { subscription, invoice } = pay(stripe, session)
    const events = {
      completed: ['checkout.session.completed', session],
      created: ['customer.subscription.created', { ...subscription, status: 'incomplete' }],
      updated: ['customer.subscription.updated', subscription],
      paid: ['invoice.paid', invoice],
    } as const
    for (const name of [...order, ...order.toReversed()]) {
      const [type, object] = events[name]
      expect((await sendEvent(site, type, object)).status).toBe(200)
    }
    ends.add(JSON.stringify(await kept(person)))
  }
  expect([...ends].map((end) => JSON.parse(end))).toEqual([
    {
      plan: 'max',
      status: 'active',
      cancelAtPeriodEnd: false,
      provider: 'stripe',
      has: true,
      checkouts: ['max completed'],
      payments: ['39 EUR paid MAX, November 2026'],
    },
  ])
})

it('reaches the same state for concurrent events, each delivered three times', async () => {
  const { person, session } = await customer('max')
  const { subscription, invoice } = pay(stripe, session)
  const events = [
    ['checkout.session.completed', session],
    ['customer.subscription.created', subscription],
    ['customer.subscription.updated', subscription],
    ['invoice.paid', invoice],
  ] as const
  const sent = [...events, ...events, ...events].map(([type, object]) => sendEvent(site, type, object))
  expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]))
  expect(await kept(person)).toMatchObject({ plan: 'max', checkouts: ['max completed'], payments: [expect.any(String)] })
})

it('ends a failed, paid and refunded payment as refunded, in any order of the events', async () => {
  const names = ['failed', 'paid', 'refunded'] as const
  for (const order of permutations(names)) {
    const { person, session } = await customer()
    const { invoice } = pay(stripe, session)
    const events = {
      failed: ['invoice.payment_failed', { ...invoice, status: 'open' }],
      paid: ['invoice.paid', invoice],
      refunded: ['charge.refunded', { refunded: true, payment_intent: invoice.of, customer: invoice.customer }],
    } as const
    for (const name of order) {
      const [type, object] = events[name]
      expect((await sendEvent(site, type, object)).status).toBe(200)
    }
    expect((await kept(person)).payments).toEqual(['19 EUR refunded Pro, November 2026'])
  }
})

it('keeps a payment failed until it is paid, and paid after a partial refund', async () => {
  const { person, id, session } = await customer()
  pay(stripe, session)
  const invoice = makeInvoice(stripe, id, 'price_pro', 'open')
  await sendEvent(site, 'invoice.payment_failed', invoice)
  expect((await kept(person)).payments).toEqual(['19 EUR failed Pro, November 2026'])
  Object.assign(invoice, { status: 'paid', amount_paid: 1900 })
  await sendEvent(site, 'invoice.paid', invoice)
  await sendEvent(site, 'charge.refunded', { refunded: false, payment_intent: invoice.of, customer: id })
  expect((await kept(person)).payments).toEqual(['19 EUR paid Pro, November 2026'])
})
