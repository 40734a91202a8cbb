// Webhook routes of Meta's Cloud API: the verification of the address, and posts of statuses and messages, signed with the app secret.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { App } from '../../core/app.ts'
import { codeOf, fail, failure, failureFor } from '../../core/errors.ts'
import { definePart } from '../../core/part.ts'
import { seldom } from '../../core/seldom.ts'
import type { ProviderAnswer, ProviderHost, ProviderRequest, ProviderRoute } from '../provider.ts'
import type { InboundMessage } from '../reports.ts'
import { readNumbersAt } from './addresses.sql.ts'
import { inboundOf } from './hook-inbound.ts'
import { type Change, readPost } from './hook-post.ts'
import { receiptOf } from './hook-status.ts'
import type { KnownCloudInstance } from './settings.ts'

type Host = ProviderHost<KnownCloudInstance>

const maxBodyBytes = 3 * 1024 * 1024

/** Most numbers that one post may be about. */
const mostNumbers = 100

/** The routes below `/providers/cloud`. */
export function hookRoutes(app: App): ProviderRoute<KnownCloudInstance>[] {
  return [
    { method: 'GET', path: '/:instanceId', answer: verify },
    {
      method: 'POST',
      path: '/:instanceId',
      maxBodyBytes,
      values: 'bulk',
      answer: (request, host) => receive(app, request, host),
    },
  ]
}

async function find({ params }: ProviderRequest, host: Host): Promise<KnownCloudInstance> {
  return (await host.instance(params.instanceId as string)) ?? fail('NOT_FOUND', 'Instance not found')
}

/** Answers the challenge of a caller who knows the verify token. */
async function verify(request: ProviderRequest, host: Host): Promise<ProviderAnswer> {
  const { settings } = await find(request, host)
  const { query } = request
  const challenge = query.get('hub.challenge')
  const isKnown = isSame(query.get('hub.verify_token') ?? '', settings.verifyToken)
  if (!isKnown || query.get('hub.mode') !== 'subscribe' || challenge === null) fail('FORBIDDEN', 'Wrong verify token')
  return { status: 200, body: challenge }
}

/** Compares in constant time: digests have one length, and do not tell how many characters are right. */
function isSame(given: string, expected: string | undefined): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected ?? '')) && expected !== undefined
}

/**
 * Stores everything in a post, and answers after the commit. A faulty item does not affect the others.
 * @throws UNAUTHORIZED when the signature is wrong, VALIDATION_ERROR when the body is not JSON, SERVICE_UNAVAILABLE when it cannot be
 * stored, so that Meta posts it again.
 */
async function receive(app: App, request: ProviderRequest, host: Host): Promise<ProviderAnswer> {
  const instance = await orUnavailable(app, () => find(request, host))
  if (!isSigned(request, instance.settings.appSecret)) {
    tellUnsigned(app, instance.id)
    fail('UNAUTHORIZED', 'Wrong signature')
  }
  const { changes, ignored } = await readPost(request.body)
  count(app, 'ignored', ignored)
  await orUnavailable(app, async () => {
    const own = instance.settings.phoneNumberId as string
    const byNumber = Map.groupBy(changes, ({ phoneNumberId }) => phoneNumberId)
    const others = [...byNumber.keys()].filter((phoneNumberId) => phoneNumberId !== own)
    const lookedFor = new Set(others.slice(0, mostNumbers - 1))
    for (const [phoneNumberId, ofNumber] of byNumber) {
      const other = lookedFor.has(phoneNumberId) ? await instanceFor(instance, phoneNumberId, host) : undefined
      const owner = phoneNumberId === own ? instance : other
      if (owner) await store(app, owner, ofNumber, host)
      else drop(app, instance.id, phoneNumberId, ofNumber)
    }
  })
  return { status: 200 }
}

function isSigned({ headers, body }: ProviderRequest, appSecret: string | undefined): boolean {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(String(headers['x-hub-signature-256'])) ?? []
  if (!appSecret || !hex) return false
  return timingSafeEqual(Buffer.from(hex, 'hex'), createHmac('sha256', appSecret).update(body).digest())
}

const isToBeTold = definePart(seldom)

/** Anybody can post here, but a wrong app secret may be visible nowhere else. */
function tellUnsigned(app: App, instanceId: string): void {
  if (!isToBeTold(app)(instanceId)) return
  app.log.warn({ instanceId }, 'a post to the webhook of an instance was refused: it is not signed with its appSecret')
}

/** The other instance that has the number: only one whose app secret signed the post, in the same workspace. */
async function instanceFor(
  signer: KnownCloudInstance,
  phoneNumberId: string,
  host: Host,
): Promise<KnownCloudInstance | undefined> {
  const others = await host.siblings(signer.id, 'phoneNumberId', phoneNumberId)
  return others.find(({ settings }) => settings.appSecret === signer.settings.appSecret)
}

/** Most items of one transaction. */
const mostItems = 500

/** Stores the items of an instance. They share transactions, because Meta may give each item a change of its own. */
async function store(app: App, owner: KnownCloudInstance, changes: readonly Change[], host: Host): Promise<void> {
  for (const items of partsOf(changes.flatMap(({ statuses }) => statuses))) {
    const receipts = items.flatMap((item) => receiptOf(owner, item) ?? [])
    count(app, 'ignored', items.length - receipts.length)
    const results = await host.receipts(receipts)
    for (const result of results) count(app, result === 'unknown' ? 'unknown_message' : result, 1)
  }
  const messages = changes.flatMap(({ messages, contacts }) => messages.map((item) => ({ item, contacts })))
  for (const items of partsOf(messages)) {
    const inbound = items.flatMap(({ item, contacts }) => inboundOf(owner.id, item, contacts) ?? [])
    count(app, 'ignored', items.length - inbound.length)
    if (inbound.length === 0) continue
    const results = await host.inbound(await withNumbers(app, owner.id, inbound))
    for (const isNew of results) count(app, isNew ? 'applied' : 'duplicate', 1)
  }
}

/** In their order, each for one transaction. */
function partsOf<Item>(items: readonly Item[]): Item[][] {
  const parts = Math.ceil(items.length / mostItems)
  return Array.from({ length: parts }, (_, n) => items.slice(n * mostItems, (n + 1) * mostItems))
}

/** Meta writes some numbers with other digits than those that messages were sent to, which an opt-out must reach too. */
async function withNumbers(app: App, instanceId: string, messages: readonly InboundMessage[]): Promise<InboundMessage[]> {
  const known = await readNumbersAt(app.pool, instanceId, [...new Set(messages.map(({ from }) => from))])
  return messages.map((message) => ({ ...message, alsoKnownAs: known.get(message.from) }))
}

function itemsIn(changes: readonly Change[]): number {
  return changes.reduce((sum, { statuses, messages }) => sum + statuses.length + messages.length, 0)
}

function drop(app: App, instanceId: string, phoneNumberId: string, changes: readonly Change[]): void {
  const items = itemsIn(changes)
  count(app, 'foreign', items)
  app.log.info({ instanceId, phoneNumberId, items }, 'items of a number that is no instance of the workspace were dropped')
}

type ItemOutcome = 'applied' | 'duplicate' | 'unknown_message' | 'foreign' | 'ignored'

function count({ metrics }: App, outcome: ItemOutcome, items: number): void {
  if (items > 0) metrics.cloudItems.inc({ outcome }, items)
}

/** Meta posts again what is answered by anything other than 200; only 503 says that it is not the post's fault. */
async function orUnavailable<T>(app: App, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const code = codeOf(error)
    // Many posts that wait for their turn are no fault of Meta either.
    if (code === 'API_RATE_LIMIT_EXCEEDED') throw failureFor(1, 'SERVICE_UNAVAILABLE')
    if (code) throw error
    app.log.error({ err: error }, "a post of Meta's webhook could not be stored")
    throw failure('SERVICE_UNAVAILABLE')
  }
}
