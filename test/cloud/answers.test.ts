// The effect of each answer of Meta on a message: refused with its reason, later, a few more tries, or unknown. Nothing is sent twice.
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { providers } from '../../src/providers/providers.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openApp } from '../messages/rig.ts'
import { openProvider, outgoing, type ProviderRig, type Shop } from './provider-rig.ts'
import { type Effect, openStandIn, type StandIn } from './stand-in.ts'

let standIn: StandIn
let rig: ProviderRig
let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  standIn = await openStandIn()
  rig = await openProvider(databaseUrl, standIn)
})

const phone = () => rig.shop()

async function answered({ number, instance }: Shop, effect: Effect, message = outgoing()): Promise<SendOutcome> {
  standIn.addFault({ on: new RegExp(`POST ${number.id}/messages`), effect })
  return await rig.provider.send(instance, message)
}

/** The address of a server that should speak TLS, and does this with the first bytes that it is sent. */
async function listening(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => void socket.on('error', () => {}).once('data', () => answer(socket)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd('test', async () => void server.close())
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function rowOf({ instance }: Shop) {
  const { rows } = await sql(databaseUrl).query('select status, "lastError" from instances where id = $1', [instance.id])
  return rows[0]
}

it('is accepted under the id that Meta gives, with our id for its statuses', async () => {
  const { instance } = await phone()
  const message = outgoing()
  const outcome = await rig.provider.send(instance, message)
  const taken = standIn.messages.find((each) => each.biz_opaque_callback_data === message.messageId)
  expect(outcome).toEqual({ outcome: 'accepted', providerMessageId: taken?.wamid })
})

it('is an approved template where the message has one, with its file as the header', async () => {
  const own = await phone()
  standIn.approve(own.number, { name: 'bill', language: 'en_US', parameters: 2, header: 'document' })
  const template = { name: 'bill', language: 'en_US', parameters: ['Ann', '7'] }
  const bill = outgoing({ type: 'document', mediaUrl: 'https://example.com/bill.pdf', template })
  expect(await rig.provider.send(own.instance, bill)).toMatchObject({ outcome: 'accepted' })
  const unknown = outgoing({ template: { ...template, language: 'it' } })
  expect(await rig.provider.send(own.instance, unknown)).toMatchObject({ outcome: 'refused', error: 'TEMPLATE_REJECTED' })
  const short = outgoing({ ...bill, template: { ...template, parameters: ['Ann'] } })
  expect(await rig.provider.send(own.instance, short)).toMatchObject({ outcome: 'refused', error: 'TEMPLATE_REJECTED' })
})

describe('an error of Meta', () => {
  const refusals: Record<string, number[]> = {
    RECIPIENT_NOT_FOUND: [131026],
    OUTSIDE_WINDOW: [131047],
    MEDIA_REJECTED: [131052, 131053],
    UNSUPPORTED_TYPE: [131051],
    OPTED_OUT: [131050],
    NOT_DELIVERED_BY_POLICY: [130472, 131049],
    TEMPLATE_REJECTED: [132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068],
    PROVIDER_ERROR: [
      ...[3, 33, 100, 131005, 131008, 131009, 131021, 131037, 131042, 131045, 133004, 133005, 133006, 133008, 133009],
      ...[133010, 133015, 133016, 134011, 135000, 424242],
    ],
  }
  const cases = Object.entries(refusals).flatMap(([error, codes]) => codes.map((code) => [code, error] as const))
  let shop: Shop
  beforeAll(async () => {
    shop = await phone()
  })

  it.each(cases)('%i fails the message with %s and its words', async (code, error) => {
    const outcome = await answered(shop, { code, details: `Words of ${code}` })
    expect(outcome).toEqual({ outcome: 'refused', error, detail: `Words of ${code} (${code})`, restricted: undefined })
  })

  it.each([368, 130497, 131031, 131048])(
    '%i fails it with ACCOUNT_RESTRICTED, and says that the account is restricted',
    async (code) => {
      const outcome = await answered(shop, { code, status: 403, details: 'Spam' })
      expect(outcome).toEqual({ outcome: 'refused', error: 'ACCOUNT_RESTRICTED', detail: `Spam (${code})`, restricted: true })
    },
  )

  it.each([
    [0, 'the access token was refused (0)'],
    [190, 'the access token was refused (190)'],
    [10, 'the access token lacks a permission (10)'],
    [200, 'the access token lacks a permission (200)'],
    [299, 'the access token lacks a permission (299)'],
  ])('%i fails the message that met it, disconnects the instance, and lets the others wait', async (code, detail) => {
    const own = await phone()
    const on = new RegExp(`POST ${own.number.id}/messages`)
    standIn.addFault({ on, effect: { code, status: 401 }, times: 3 })
    const outcomes = await Promise.all([1, 2, 3].map(() => rig.provider.send(own.instance, outgoing())))
    const [refused, ...waiting] = outcomes.sort((a, b) => (a.outcome < b.outcome ? -1 : 1))
    expect(refused).toEqual({ outcome: 'refused', error: 'AUTH_INVALID', detail })
    expect(waiting).toEqual(Array(2).fill({ outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: 0, offline: true }))
    expect(await rowOf(own)).toMatchObject({ status: 'disconnected', lastError: detail })
  })

  it('190 of a token that was replaced meanwhile leaves the instance connected', async () => {
    const own = await phone()
    const { credentials } = (await phone()).instance
    await sql(databaseUrl).query('update instances set credentials = $2 where id = $1', [own.instance.id, credentials])
    expect(await answered(own, { code: 190, status: 401 })).toMatchObject({ outcome: 'retry', offline: true })
    expect(await rowOf(own)).toMatchObject({ status: 'connected' })
  })

  it.each<[number, object, number]>([
    [131056, { of: 'recipient' }, 1_000],
    [132069, { of: 'recipient' }, 1_000],
    [130429, { of: 'instance' }, 1_000],
    [131057, { of: 'instance' }, 60_000],
    [2, { of: 'instance' }, 1_000],
    [131016, { of: 'instance' }, 1_000],
    [4, { of: 'account' }, 2_000],
    [80007, { of: 'account' }, 2_000],
  ])('%i lets the message wait', async (code, holds, afterMs) => {
    const own = await phone()
    const { businessAccountId: account } = own.number
    const expected = 'of' in holds && holds.of === 'account' ? { ...holds, account } : holds
    const outcome = await answered(own, { code, status: 429 })
    expect(outcome).toEqual({
      outcome: 'retry',
      error: 'TEMPORARILY_UNAVAILABLE',
      detail: `details of ${code} (${code})`,
      afterMs,
      holds: expected,
    })
    const patient = await phone()
    expect(await answered(patient, { code, status: 429, retryAfter: 17 })).toMatchObject({ afterMs: 17_000 })
  })

  it.each<[string, Effect, number]>([
    ['429', { code: 424242, status: 429 }, 1_000],
    ['Retry-After', { code: 424242, status: 400, retryAfter: 17 }, 17_000],
  ])('of an unknown code lets the message wait if it comes with %s', async (_, effect, afterMs) => {
    const waits = { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs, holds: { of: 'recipient' } }
    expect(await answered(await phone(), effect)).toMatchObject(waits)
  })

  it.each([
    ['nothing', 0, 1_000],
    ['eleven days', 1_000_000, 3_600_000],
  ])('is waited out for a sensible time although Retry-After says %s', async (_, retryAfter, afterMs) => {
    expect(await answered(await phone(), { code: 130429, status: 429, retryAfter })).toMatchObject({ afterMs })
  })

  it.each([1, 131000])('%i is tried five times, and then fails with the code', async (code) => {
    const outcomes: SendOutcome[] = []
    for (let n = 1; n <= 5; n++) outcomes.push(await answered(shop, { code, status: 500 }, outgoing({ attempt: n })))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['retry', 'retry', 'retry', 'retry', 'refused'])
    expect(outcomes[4]).toMatchObject({ error: 'PROVIDER_ERROR', detail: `details of ${code} (${code})` })
  })

  it('has no character in its words that cannot be stored', async () => {
    const outcome = await answered(await phone(), { code: 131026, details: 'not\0 there' })
    expect(outcome).toMatchObject({ error: 'RECIPIENT_NOT_FOUND', detail: 'not there (131026)' })
  })

  it('repeats no secret of the instance in its words', async () => {
    const own = await phone()
    const { accessToken, appSecret } = own.number
    const outcome = await answered(own, { code: 100, details: `Bearer ${accessToken} and ${appSecret}` })
    expect(outcome).toMatchObject({ detail: 'Bearer … and … (100)' })
  })
})

describe('an answer that is none of the Graph API', () => {
  it.each<[string, Effect]>([
    ['a connection that ends after the message was taken', 'lose'],
    ['a connection that ends before', 'drop'],
    ['502 of a proxy', { bare: 502, body: '<html>bad gateway' }],
    ['504 without a body', { bare: 504 }],
    ['500 with JSON of something else', { bare: 500, body: '{"fault":"x"}' }],
    ['200 without an id', { bare: 200, body: '{"messages":[]}' }],
    ['200 that is cut off', { bare: 200, body: '{"messages":[{"id":"wam' }],
    ['408 of a proxy', { bare: 408 }],
  ])('is an unknown outcome: %s', async (_, effect) => {
    const own = await phone()
    expect(await answered(own, effect)).toMatchObject({ outcome: 'unknown', error: 'UNKNOWN_OUTCOME' })
    expect(standIn.count(new RegExp(`POST ${own.number.id}/messages`))).toBe(1)
  })

  it('lets the message wait after a bare 429', async () => {
    const outcome = await answered(await phone(), { bare: 429, retryAfter: 3 })
    expect(outcome).toMatchObject({ outcome: 'retry', afterMs: 3_000, holds: { of: 'instance' } })
  })

  it('refuses the message after another status', async () => {
    const outcome = await answered(await phone(), { bare: 404 })
    expect(outcome).toMatchObject({ outcome: 'refused', error: 'PROVIDER_ERROR', detail: expect.stringMatching(/^HTTP 404/) })
  })

  it('lets the message wait while nobody listens, or nobody speaks TLS', async () => {
    const { instance } = await phone()
    const answering = await listening((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const cutting = await listening((socket) => void socket.destroy())
    for (const url of ['http://127.0.0.1:9', answering, cutting]) {
      const elsewhere = await openApp(databaseUrl, { CLOUD_API_URL: url })
      const outcome = await (providers(elsewhere).get('cloud') as Provider).send(instance, outgoing())
      expect(outcome).toMatchObject({
        outcome: 'retry',
        detail: 'Meta could not be reached',
        afterMs: 1_000,
        holds: { of: 'instance' },
      })
    }
  })

  it('is an unknown outcome before the lease of the message ends, if Meta hangs', async () => {
    const own = await phone()
    const began = performance.now()
    expect(await answered(own, 'hang')).toMatchObject({ outcome: 'unknown' })
    expect(performance.now() - began).toBeGreaterThan(4_000)
    standIn.clearFaults()
  })
})
