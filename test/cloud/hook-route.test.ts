// Attacks on Meta's webhook, and its bounds: nobody without the secret of an instance can say anything about it, and nothing is lost.
import net from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { failFor } from '../../src/core/errors.ts'
import { hookRoutes } from '../../src/providers/cloud/hook.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { until } from '../kit/until.ts'
import { type HookRig, type Line, messageOf, openHookRig } from './hook-rig.ts'
import { envelope, sign, statusOf } from './stand-in-hooks.ts'

const mib = 1024 * 1024
let rig: HookRig
let line: Line
/** The answer to a post whose body never ends. */
let slow: Promise<string>

beforeAll(async () => {
  rig = await openHookRig()
  line = await rig.line()
  slow = dripped(line)
})

const bodyOf = (...messages: object[]) => JSON.stringify(envelope([{ number: line.number, messages: messages as never }]))
const hello = () => messageOf('text', { body: 'hello' })

async function outcome(response: Response): Promise<[number, string | undefined]> {
  return [response.status, (await response.json()).error?.code]
}

describe('the verification of the address', () => {
  const ask = async (query: Record<string, string>, id = line.id) =>
    await fetch(`${rig.urlOf({ id })}?${new URLSearchParams(query)}`)

  it('answers exactly the challenge to a caller who knows the verify token', async () => {
    const settings = { ...rig.standIn.settingsOf(rig.standIn.addNumber()), verifyToken: 'the-token' }
    const { body } = await rig.api.post('instances', { name: 'Shop', provider: 'cloud', settings })
    const right = { 'hub.mode': 'subscribe', 'hub.verify_token': 'the-token', 'hub.challenge': '11<b>58' }
    const response = await ask(right, body.data.id)
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([200, 'text/plain', '11<b>58'])
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const { 'hub.challenge': _, ...unasked } = right
    for (const wrong of [{ 'hub.verify_token': 'the-toke' }, { 'hub.verify_token': '' }, { 'hub.mode': 'unsubscribe' }])
      expect(await outcome(await ask({ ...right, ...wrong }, body.data.id))).toEqual([403, 'FORBIDDEN'])
    expect(await outcome(await ask(unasked, body.data.id))).toEqual([403, 'FORBIDDEN'])
    expect(await outcome(await ask(right))).toEqual([403, 'FORBIDDEN'])
    expect(await outcome(await ask(right, crypto.randomUUID()))).toEqual([404, 'NOT_FOUND'])
  })
})

describe('a signature', () => {
  it('stores nothing when it is missing, wrong, of another instance, or of other bytes', async () => {
    const other = await rig.line()
    const body = bodyOf(hello())
    const forged = [
      {},
      { 'x-hub-signature-256': '' },
      { 'x-hub-signature-256': sign(body, line.number.appSecret).replace('sha256=', '') },
      { 'x-hub-signature-256': sign(body, line.number.appSecret).replace('sha256=', 'sha1=') },
      { 'x-hub-signature-256': sign(body, line.number.appSecret).slice(0, -1) },
      { 'x-hub-signature-256': sign(body, '') },
      { 'x-hub-signature-256': sign(body, other.number.appSecret) },
      { 'x-hub-signature-256': sign(`${body} `, line.number.appSecret) },
      { 'x-hub-signature-256': sign(body, 'token'), 'x-api-key': rig.account.apiKey },
    ]
    for (const headers of forged) {
      const response = await fetch(rig.urlOf(line), { method: 'POST', body, headers: headers as Record<string, string> })
      expect(await outcome(response)).toEqual([401, 'UNAUTHORIZED'])
    }
    expect(await rig.inbound(line)).toEqual([])
  })

  it('is of no use for an unknown instance, or for one that was deleted', async () => {
    const gone = await rig.line()
    await rig.api.delete(`instances/${gone.id}`)
    expect(await rig.post(gone, bodyOf(hello()))).toBe(404)
    expect(await rig.post({ ...line, id: crypto.randomUUID() }, bodyOf(hello()))).toBe(404)
    expect(await rig.post({ ...line, id: 'x' }, bodyOf(hello()))).toBe(404)
  })

  it('stores a message once, however often its post is repeated', async () => {
    await rig.counted()
    const message = hello()
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.post(line, bodyOf(message, message))))
    expect(answers).toEqual(Array(5).fill(200))
    expect((await rig.inbound(line)).filter(({ providerMessageId }) => providerMessageId === message.id)).toHaveLength(1)
    expect(await rig.counted()).toEqual({ applied: 1, duplicate: 9 })
    expect((await rig.api.get('contacts')).body.data.contacts, 'a sender is no contact by itself').toEqual([])
  })
})

describe('items of other numbers', () => {
  it('go to the instance of the workspace with that number and the same app secret, and to no other', async () => {
    const { appSecret, businessAccountId } = line.number
    const sibling = await rig.line({ appSecret, businessAccountId })
    const guarded = await rig.line({ businessAccountId })
    const stranger = await rig.line(
      { appSecret, businessAccountId },
      api(rig.gateway, (await createAccount(rig.databaseUrl)).apiKey),
    )
    const unknown = rig.standIn.addNumber({ appSecret, businessAccountId })
    await rig.counted()
    const numbers = [line.number, sibling.number, guarded.number, stranger.number, unknown]
    const changes = numbers.map((number) => ({ number, messages: [hello()] }))
    expect(await rig.post(line, JSON.stringify(envelope(changes)))).toBe(200)
    expect(await rig.counted()).toEqual({ applied: 2, foreign: 3 })
    const told = await Promise.all([sibling, guarded, stranger].map(async (each) => (await rig.inbound(each)).length))
    expect(told).toEqual([1, 0, 0])
    expect(rig.gateway.logs.filter((text) => text.includes('were dropped'))).not.toEqual([])
  })

  it('are looked for in a bounded number, whatever one post names', async () => {
    await rig.counted()
    const numbers = Array.from({ length: 150 }, () => rig.standIn.addNumber())
    const changes = [...numbers, line.number].map((number) => ({ number, messages: [hello()] }))
    expect(await rig.post(line, JSON.stringify(envelope(changes)))).toBe(200)
    expect(await rig.counted()).toEqual({ foreign: 150, applied: 1 })
  })
})

describe('a signed body', () => {
  it('is read up to 3 MiB, and not beyond', async () => {
    const fits = bodyOf(hello()).padEnd(3 * mib)
    expect(await rig.post(line, fits)).toBe(200)
    expect(await rig.post(line, `${fits} `)).toBe(413)
  })

  it('is refused when it is not JSON, too deep, or not UTF-8', async () => {
    const invalid = ['', 'no JSON', '{"object":', `${'['.repeat(100)}${']'.repeat(100)}`, '{"__proto__": {}}', '[1,]']
    for (const body of invalid) expect({ body, status: await rig.post(line, body) }).toEqual({ body, status: 400 })
    expect(await rig.post(line, Buffer.from(bodyOf(hello()), 'utf16le'))).toBe(400)
    expect(await rig.post(line, Buffer.from(bodyOf(messageOf('text', { body: 'caffè' })), 'latin1'))).toBe(400)
  })

  it('counts as the bytes that it is, whatever type is declared', async () => {
    const message = messageOf('text', { body: 'caffè ☕' })
    const body = bodyOf(message)
    const signature = { 'x-hub-signature-256': sign(body, line.number.appSecret) }
    for (const type of ['application/json; charset=latin1', 'text/plain', 'application/x-www-form-urlencoded'])
      expect(await rig.post(line, body, { ...signature, 'content-type': type })).toBe(200)
    expect((await rig.inbound(line)).find(({ providerMessageId }) => providerMessageId === message.id)).toMatchObject({
      body: 'caffè ☕',
    })
  })

  it('of any other shape is answered with 200, and says nothing', async () => {
    await rig.counted()
    const before = await rig.inbound(line)
    const change = (value: unknown, field: unknown = 'messages') => ({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field, value }] }],
    })
    const metadata = { phone_number_id: line.number.id }
    const shapes: unknown[] = [
      null,
      [],
      'text',
      { object: 'page', entry: [{}] },
      { object: 'whatsapp_business_account' },
      { object: 'whatsapp_business_account', entry: [null, {}, { changes: null }, { changes: [null] }] },
      change({ metadata: { phone_number_id: {} }, messages: [hello()] }),
      change({ metadata, messages: [hello()] }, 'account_update'),
      change({ metadata, messages: { 0: hello() } }),
      change({
        metadata,
        messages: [
          null,
          5,
          {},
          { id: 'x' },
          { ...hello(), id: 'a b' },
          { ...hello(), id: 'x'.repeat(300) },
          { ...hello(), from: {} },
          { ...hello(), group_id: '120363' },
        ],
      }),
      change({
        metadata,
        statuses: [null, {}, { id: 'wamid.1', status: 'warned' }, { status: 'sent' }, { id: [], status: 'read' }],
      }),
    ]
    for (const shape of shapes) expect(await rig.post(line, JSON.stringify(shape))).toBe(200)
    expect(await rig.inbound(line)).toEqual(before)
    expect(await rig.counted()).toEqual({ ignored: 21 })
  })
})

describe('when nothing can be stored', () => {
  it('answers 503, so that Meta offers it again, and then stores it once', async () => {
    const message = hello()
    const undo = await refuse(rig.databaseUrl, 'insert', 'messages')
    const response = await fetch(rig.urlOf(line), {
      method: 'POST',
      body: bodyOf(message),
      headers: { 'x-hub-signature-256': sign(bodyOf(message), line.number.appSecret) },
    })
    expect(response.headers.get('retry-after')).toBe('1')
    expect(await outcome(response)).toEqual([503, 'SERVICE_UNAVAILABLE'])
    await undo()
    expect(await rig.post(line, bodyOf(message))).toBe(200)
    expect((await rig.inbound(line)).filter(({ providerMessageId }) => providerMessageId === message.id)).toHaveLength(1)
  })

  it('answers 503 to receipts that had to wait for their turn for too long, because Meta does not send too much', async () => {
    const { app } = rig.gateway
    const route = hookRoutes(app).find(({ method }) => method === 'POST')
    const host = {
      instance: async () => ({ id: line.id, settings: rig.standIn.settingsOf(line.number) }),
      receipts: async () => failFor(1, 'API_RATE_LIMIT_EXCEEDED'),
    } as unknown as Parameters<NonNullable<typeof route>['answer']>[1]
    const status = statusOf({ wamid: 'wamid.late', to: '+393331234567' }, 'delivered')
    const body = Buffer.from(JSON.stringify(envelope([{ number: line.number, statuses: [status] }])))
    const headers = { 'x-hub-signature-256': sign(body, line.number.appSecret) }
    const request = { params: { instanceId: line.id }, query: new URLSearchParams(), headers, body }
    await expect(route?.answer(request, host)).rejects.toMatchObject({
      extensions: { code: 'SERVICE_UNAVAILABLE' },
      retryAfterSeconds: 1,
    })
  })

  it('answers 503 while the instance cannot be read', async () => {
    const pool = sql(rig.databaseUrl)
    await pool.query('alter table instances rename to instances_away')
    try {
      expect(await rig.post(line, bodyOf(hello()))).toBe(503)
    } finally {
      await pool.query('alter table instances_away rename to instances')
    }
    await until(async () => (await rig.post(line, bodyOf(hello()))) === 200)
  })
})

it('cuts a caller who sends the body too slowly', async () => {
  expect(await slow).toMatch(/^HTTP\/1\.1 408 /)
})

/** Declares a long body, sends the beginning, and waits for the answer. */
async function dripped({ id }: Line): Promise<string> {
  const { hostname, port } = new URL(rig.gateway.url)
  const socket = net.connect(Number(port), hostname)
  socket.write(`POST /providers/cloud/${id} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"object":`)
  let answer = ''
  socket.on('data', (data) => {
    answer += data
  })
  await new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => resolve()))
  return answer
}
