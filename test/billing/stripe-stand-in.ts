// A Stripe stand-in on loopback: the few endpoints that the gateway uses, with controls for tests.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Stripe } from 'stripe'
import { atEnd } from '../kit/at-end.ts'

export const settings = {
  STRIPE_SECRET_KEY: 'sk_test_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_test',
  STRIPE_PRICE_PRO: 'price_pro',
  STRIPE_PRICE_MAX: 'price_max',
}

export interface Asked {
  method: string
  path: string
  params: Record<string, string>
  idempotencyKey: string | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: Stripe's records are larger than what is stood in for
type Thing = any

export interface StripeStandIn {
  url: string
  /** The requests received, in order. */
  asked: Asked[]
  things: Map<string, Thing>
  /** The answers of the stand-in from now on. */
  mode: 'well' | 'refusing' | 'broken' | 'silent' | 'dripping' | 'endless'
  /** Answers that replace the true ones, by path and customer: `/v1/subscriptions?customer=ID`. */
  lies: Map<string, Thing>
  /** Ids of records that the stand-in reports as missing. */
  gone: Set<string>
  /** Called once, before the next answer is sent. */
  before: (() => Promise<void>) | null
  /** No answer is sent before this resolves. */
  gate: Promise<void> | null
}

const day = 86_400
const seconds = () => Math.floor(Date.now() / 1000)
let last = 0
const newName = (kind: string) => `${kind}_${process.pid}x${++last}`

export async function openStripeStandIn(): Promise<StripeStandIn> {
  const standIn: StripeStandIn = {
    url: '',
    asked: [],
    things: new Map(),
    mode: 'well',
    lies: new Map(),
    gone: new Set(),
    before: null,
    gate: null,
  }
  const server = createServer((request, response) => void answer(standIn, request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  standIn.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd('file', async () => {
    server.closeAllConnections()
    server.close()
  })
  return standIn
}

async function answer(standIn: StripeStandIn, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { pathname, search } = new URL(request.url as string, standIn.url)
  const params = Object.fromEntries(new URLSearchParams(request.method === 'GET' ? search : Buffer.concat(chunks).toString()))
  const idempotencyKey = request.headers['idempotency-key'] as string | undefined
  standIn.asked.push({ method: request.method as string, path: pathname, params, idempotencyKey })
  await standIn.gate
  if (standIn.mode === 'silent') return
  if (standIn.mode === 'dripping' || standIn.mode === 'endless') return pour(response, standIn.mode === 'endless' ? 65_536 : 1)
  const send = (status: number, body: Thing) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  if (standIn.mode === 'refusing') return send(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key' } })
  if (standIn.mode === 'broken') return send(500, { error: { type: 'api_error', message: 'broken' } })
  const isGone = (name: string) => standIn.gone.has(name)
  const param = isGone(params.customer ?? '') ? 'customer' : 'id'
  const isKnown = param === 'id' && !pathname.split('/').some(isGone)
  const lie = standIn.lies.get(`${pathname}?customer=${params.customer}`)
  if (lie) return send(200, lie)
  const result = isKnown ? act(standIn, request.method as string, pathname, params) : undefined
  const missing = { type: 'invalid_request_error', code: 'resource_missing', param, message: 'No such thing' }
  const body = JSON.stringify(result ?? { error: missing })
  const { before } = standIn
  standIn.before = null
  await before?.()
  response.writeHead(result ? 200 : 404, { 'content-type': 'application/json' }).end(body)
}

/** Sends this many spaces at a time, without end. */
function pour(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const timer = setInterval(() => response.writableNeedDrain || response.write(' '.repeat(bytes)), bytes === 1 ? 100 : 1)
  response.on('close', () => clearInterval(timer))
}

function act({ things }: StripeStandIn, method: string, path: string, params: Record<string, string>): Thing {
  const put = (thing: Thing): Thing => {
    things.set(thing.id, thing)
    return thing
  }
  const all = (object: string) => [...things.values()].filter((thing) => thing.object === object)
  const [kind, name, verb] = path.replace('checkout/', 'checkout_').replace('portal/', 'portal_').replace('/v1/', '').split('/')
  if (kind === 'customers' && method === 'POST') return put({ id: newName('cus'), object: 'customer', email: params.email })
  if (kind === 'checkout_sessions' && !name) {
    const id = newName('cs')
    return put({
      id,
      object: 'checkout.session',
      status: 'open',
      url: `https://checkout.stripe.test/${id}`,
      customer: params.customer,
      client_reference_id: params.client_reference_id,
      price: params['line_items[0][price]'],
    })
  }
  if (kind === 'checkout_sessions' && verb === 'expire') return Object.assign(things.get(name as string), { status: 'expired' })
  if (kind === 'billing_portal_sessions') {
    const id = newName('bps')
    return put({ id, object: 'billing_portal.session', url: `https://portal.stripe.test/${id}`, params })
  }
  if (kind === 'subscriptions' && !name) {
    const ofCustomer = all('subscription').filter(({ customer }) => customer === params.customer)
    return {
      object: 'list',
      data: params.status === 'all' ? ofCustomer : ofCustomer.filter(({ status }) => status !== 'canceled'),
    }
  }
  if (kind === 'subscriptions' && method === 'DELETE') return Object.assign(things.get(name as string), { status: 'canceled' })
  if (kind === 'subscriptions' && method === 'POST') {
    const thing = things.get(name as string)
    if (params.cancel_at_period_end) thing.cancel_at_period_end = params.cancel_at_period_end === 'true'
    if (params.cancel_at === '') thing.cancel_at = null
    return thing
  }
  if (kind === 'invoice_payments') {
    const intent = params['payment[payment_intent]']
    return { object: 'list', data: all('invoice').flatMap(({ id, of }) => (of === intent ? [{ invoice: id }] : [])) }
  }
  return things.get(name ?? '')
}

/** The customer pays an open Checkout Session: a subscription starts, and its first invoice is paid. */
export function pay(standIn: StripeStandIn, session: Thing, created = seconds()) {
  session.status = 'complete'
  const subscription = makeSubscription(standIn, session.customer, session.price, created)
  return { session, subscription, invoice: makeInvoice(standIn, session.customer, session.price, 'paid') }
}

export function makeSubscription(standIn: StripeStandIn, customer: string, price: string, created = seconds()): Thing {
  const id = newName('sub')
  const period = { current_period_start: created - day, current_period_end: created + 29 * day }
  const subscription = {
    id,
    object: 'subscription',
    customer,
    status: 'active',
    created,
    cancel_at: null,
    cancel_at_period_end: false,
    metadata: {},
    items: { data: [{ id: newName('si'), price: { id: price }, ...period }] },
  }
  standIn.things.set(id, subscription)
  return subscription
}

export function makeInvoice(standIn: StripeStandIn, customer: string, price: string, status: 'paid' | 'open'): Thing {
  const cents = price === 'price_max' ? 3900 : 1900
  const created = Date.UTC(2026, 10, 5) / 1000
  const invoice = {
    id: newName('in'),
    object: 'invoice',
    customer,
    status,
    attempted: true,
    amount_due: cents,
    amount_paid: status === 'paid' ? cents : 0,
    currency: 'eur',
    created,
    lines: { data: [{ amount: cents, period: { start: created }, pricing: { price_details: { price } } }] },
    /** The id of the payment intent. */
    of: newName('pi'),
  }
  standIn.things.set(invoice.id, invoice)
  return invoice
}

const { webhooks } = new Stripe('sk_test_1')

export interface Sent {
  secret?: string
  /** The age of the signature's timestamp, in seconds. */
  ageSeconds?: number
  signature?: string
}

/** Sends an event as Stripe does; returns the status and the body. */
export async function sendEvent(site: { url: string }, type: string, object: Thing, how: Sent = {}) {
  // Serialise now: later changes of the object by a test must not change this event.
  const payload = JSON.stringify({ id: newName('evt'), object: 'event', type, data: { object } })
  const { secret = settings.STRIPE_WEBHOOK_SECRET, ageSeconds = 0 } = how
  const signature = webhooks.generateTestHeaderString({ payload, secret, timestamp: seconds() - ageSeconds })
  const response = await fetch(`${site.url}/api/billing/stripe/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': how.signature ?? signature },
    body: payload,
  })
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what tests are about
  return { status: response.status, body: (await response.json()) as any }
}
