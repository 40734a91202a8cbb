// Connecting, replacing the token and logging out of an instance on Meta's Cloud API.
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEnd, sql, until } from '../kit/kit.ts'
import { openRig, type Rig } from './rig.ts'
import type { MetaNumber } from './stand-in.ts'

let rig: Rig
/** Stands for this server's public address: answers Meta's verification with the tokens that it knows. */
const verified = new Set<string>()
let publicUrl: string

beforeAll(async () => {
  const server = http.createServer((request, response) => {
    const { searchParams } = new URL(request.url as string, 'http://us')
    if (!verified.has(searchParams.get('hub.verify_token') ?? '')) return void response.writeHead(403).end()
    response.end(searchParams.get('hub.challenge'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd('file', async () => void server.close())
  rig = await openRig({ PUBLIC_URL: publicUrl })
})

function numberWith(given: Partial<MetaNumber> = {}): MetaNumber {
  return rig.standIn.addNumber(given)
}

/** An instance whose verify token Meta's verification will find right. */
async function create(number: MetaNumber, more: Record<string, unknown> = {}): Promise<string> {
  const verifyToken = `verify-${number.id}`
  verified.add(verifyToken)
  return await rig.create(number, { verifyToken, ...more })
}

describe('connect', () => {
  it('reads the number, points the webhooks at us, and takes the number in E.164', async () => {
    const number = numberWith({ display: '+1 (555) 078-38 81' })
    const id = await create(number)
    expect(await rig.connect(id)).toEqual({ status: 'connected', lastError: null })
    expect((await rig.api.get(`instances/${id}`)).body.data).toMatchObject({ waNumber: '+15550783881', status: 'connected' })
    expect(rig.standIn.callbackOf(number.businessAccountId)).toEqual({
      url: `${publicUrl}/providers/cloud/${id}`,
      verifyToken: `verify-${number.id}`,
    })
    const calls = rig.standIn.requests
      .filter(({ path }) => path.startsWith(number.businessAccountId))
      .map(({ body }) => `${body}`)
    expect(calls).toEqual([
      '{}',
      JSON.stringify({ override_callback_uri: `${publicUrl}/providers/cloud/${id}`, verify_token: `verify-${number.id}` }),
    ])
  })

  it('makes a verify token when none is given', async () => {
    const id = await rig.create(numberWith())
    const { body } = await rig.api.get(`instances/${id}`)
    expect(body.data.status).toBe('created')
    expect(await rig.connect(id)).toMatchObject({ status: 'connected', lastError: expect.stringMatching(/\(2200\)$/) })
    const sent = JSON.parse(`${rig.standIn.requests.at(-1)?.body}`)
    expect(sent.verify_token).toMatch(/^[\w-]{32}$/)
  })

  it.each<[string, Partial<MetaNumber>, Record<string, unknown>, { status: string; lastError: unknown }]>([
    ['registers a number that is pending', { status: 'PENDING', pin: '123456' }, {}, { status: 'connected', lastError: null }],
    [
      'registers a number that is on no platform',
      { platform: 'NOT_APPLICABLE', pin: '123456' },
      {},
      { status: 'connected', lastError: null },
    ],
    [
      'says that a pin is missing',
      { status: 'PENDING' },
      {},
      { status: 'disconnected', lastError: 'the number is not registered: give its pin' },
    ],
    [
      'says that a pin is wrong, without it',
      { platform: 'NOT_APPLICABLE', pin: '123456' },
      { pin: '654321' },
      {
        status: 'disconnected',
        lastError: 'the number was not registered: Two step verification PIN … mismatch (133005)',
      },
    ],
    [
      'says that the token was refused, without it',
      {},
      { accessToken: 'EAAwrong' },
      { status: 'disconnected', lastError: 'the access token was refused (190)' },
    ],
    [
      'says that the number is unknown',
      {},
      { phoneNumberId: '123' },
      { status: 'disconnected', lastError: expect.stringMatching(/^Object with ID '123' does not exist.* \(100\)$/) },
    ],
    [
      'is connected without webhooks, and says so',
      {},
      { verifyToken: 'unknown-to-the-address' },
      { status: 'connected', lastError: 'the webhooks were not subscribed: Callback verification failed (2200)' },
    ],
  ])('%s', async (_, given, more, expected) => {
    const id = await create(numberWith(given), more)
    expect(await rig.connect(id)).toEqual(expected)
  })

  it.each([
    ['is away', 'drop' as const],
    ['asks to wait', { code: 131016, status: 503 }],
    ['limits the calls', { bare: 429 }],
    ['is broken', { bare: 502, body: '<html>' }],
  ])('stays connecting while Meta %s, and says so', async (_, effect) => {
    const number = numberWith()
    const id = await create(number)
    rig.standIn.addFault({ on: new RegExp(`GET ${number.id}$`), effect, times: 2 })
    await rig.api.post(`instances/${id}/connect`)
    const waiting = await until(async () => {
      const state = await rig.state(id)
      return state.lastError && state
    })
    expect(waiting).toEqual({ status: 'connecting', lastError: expect.stringMatching(/Meta|details of 131016/) })
    await until(async () => (await rig.state(id)).status === 'connected')
    expect(rig.standIn.count(new RegExp(`GET ${number.id}$`))).toBe(3)
  })

  it('subscribes the webhooks later, when Meta could not at once', async () => {
    const number = numberWith()
    const id = await create(number)
    rig.standIn.addFault({ on: new RegExp(`POST ${number.businessAccountId}/`), effect: { code: 2, status: 503 } })
    expect(await rig.connect(id)).toMatchObject({ status: 'connected', lastError: expect.stringMatching(/^the webhooks/) })
    await until(async () => (await rig.state(id)).lastError === null)
    expect(rig.standIn.callbackOf(number.businessAccountId)).toBeDefined()
  })

  it('reports nothing on an instance that was logged out meanwhile', async () => {
    const number = numberWith()
    const id = await create(number)
    rig.standIn.addFault({ on: new RegExp(`GET ${number.id}$`), effect: 'drop', times: 1 })
    await rig.api.post(`instances/${id}/connect`)
    await until(async () => (await rig.state(id)).lastError)
    await rig.api.post(`instances/${id}/logout`)
    await until(async () => {
      const { rows } = await sql(rig.databaseUrl).query(
        `select from pgboss.job where name = 'cloud.link' and data->>'id' = $1 and state < 'completed'`,
        [id],
      )
      return rows.length === 0
    })
    expect(await rig.state(id)).toMatchObject({ status: 'logged_out' })
  })
})

describe('the number', () => {
  it('has one instance in a workspace, also when two are created at once', async () => {
    const settings = rig.standIn.settingsOf(numberWith())
    const both = await Promise.all(['A', 'B'].map((name) => rig.api.post('instances', { name, provider: 'cloud', settings })))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    const [refused, created] = both.sort((a, b) => b.status - a.status)
    expect(refused?.body.error).toEqual({
      code: 'CONFLICT',
      message: 'settings.phoneNumberId: another instance of the workspace has it',
    })
    await rig.api.delete(`instances/${created?.body.data.id}`)
    expect((await rig.api.post('instances', { name: 'C', provider: 'cloud', settings })).status).toBe(201)
  })
})

describe('another business account', () => {
  const move = async (id: string, businessAccountId: string) => {
    const { status, body } = await rig.api.put(`instances/${id}`, { settings: { businessAccountId } })
    expect([status, body.data.status]).toEqual([200, 'connected'])
  }

  it('of a connected instance gets its webhooks, and the former one no longer has them', async () => {
    const number = numberWith()
    // A token of a business has all of its accounts.
    const { businessAccountId: former, accessToken } = number
    numberWith({ businessAccountId: former, accessToken })
    const id = await create(number)
    await rig.connect(id)
    number.businessAccountId = '7700'
    rig.standIn.addFault({ on: /POST 7700/, effect: { code: 2, status: 503 } })
    await move(id, '7700')
    await until(async () => (await rig.state(id)).lastError?.startsWith('the webhooks were not subscribed'))
    await until(() => rig.standIn.callbackOf('7700')?.url.endsWith(id))
    await until(async () => (await rig.state(id)).lastError === null)
    await until(() => !rig.standIn.isSubscribed(former))
    expect(await rig.state(id)).toEqual({ status: 'connected', lastError: null })
    // A plan has room for twenty instances.
    await rig.api.delete(`instances/${id}`)
  })

  it('leaves the webhooks of the former one to another instance that uses it', async () => {
    const first = numberWith()
    const second = numberWith({ businessAccountId: first.businessAccountId })
    const [stays, leaves] = [await create(first), await create(second)]
    await rig.connect(stays)
    await rig.connect(leaves)
    second.businessAccountId = '7701'
    await move(leaves, '7701')
    await until(() => rig.standIn.callbackOf('7701')?.url.endsWith(leaves))
    await until(() => rig.standIn.callbackOf(first.businessAccountId)?.url.endsWith(stays))
    for (const id of [stays, leaves]) await rig.api.delete(`instances/${id}`)
  })
})

describe('logout', () => {
  it('ends the webhooks and forgets the token, and never deregisters the number', async () => {
    const number = numberWith({ pin: '123456' })
    const id = await create(number)
    await rig.connect(id)
    expect((await rig.api.post(`instances/${id}/logout`)).body.data.status).toBe('logged_out')
    await until(() => !rig.standIn.isSubscribed(number.businessAccountId))
    expect(rig.standIn.count(new RegExp(`${number.id}/deregister`))).toBe(0)
    const again = await rig.api.post(`instances/${id}/connect`)
    expect([again.status, again.body.error.message]).toEqual([400, 'settings.accessToken: is required'])
    await until(async () => (await sql(rig.databaseUrl).query('select from cloud_departures')).rowCount === 0)
  })

  it('points the webhooks at another instance of the same business account', async () => {
    const first = numberWith()
    const second = numberWith({ businessAccountId: first.businessAccountId })
    const [stays, leaves] = [await create(first), await create(second)]
    await rig.connect(stays)
    await rig.connect(leaves)
    expect(rig.standIn.callbackOf(first.businessAccountId)?.url).toContain(leaves)
    await rig.api.delete(`instances/${leaves}`)
    await until(() => rig.standIn.callbackOf(first.businessAccountId)?.url.includes(stays))
    expect(rig.standIn.count(new RegExp(`DELETE ${first.businessAccountId}`))).toBe(0)
  })

  it('is done here at once while Meta is away, and there as soon as it answers', async () => {
    const number = numberWith()
    const id = await create(number)
    await rig.connect(id)
    rig.standIn.addFault({ on: new RegExp(`DELETE ${number.businessAccountId}`), effect: 'drop', times: 1 })
    expect((await rig.api.post(`instances/${id}/logout`)).body.data.status).toBe('logged_out')
    const { rows } = await sql(rig.databaseUrl).query('select credentials from instances where id = $1', [id])
    expect(rows[0].credentials).not.toBeNull()
    await until(() => !rig.standIn.isSubscribed(number.businessAccountId))
    expect(rig.standIn.count(new RegExp(`DELETE ${number.businessAccountId}`))).toBe(2)
  })
})
