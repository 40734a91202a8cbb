// Connecting, replacing the token and logging out of an instance on Meta's Cloud API.
import { beforeAll, describe, expect, it } from 'vitest'
import { openSse } from '../events/sse.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { type CallbackRig, openCallbackRig } from './callback-rig.ts'
import type { Rig } from './rig.ts'
import type { MetaNumber } from './stand-in.ts'

let stage: CallbackRig
let rig: Rig
let create: CallbackRig['create']

beforeAll(async () => {
  stage = await openCallbackRig()
  ;({ rig, create } = stage)
})

function numberWith(given: Partial<MetaNumber> = {}): MetaNumber {
  return rig.standIn.addNumber(given)
}

describe('connect', () => {
  it('reads the number, points the webhooks at us, and takes the number in E.164', async () => {
    const number = numberWith({ display: '+1 (555) 078-38 81' })
    const id = await create(number)
    expect(await rig.connect(id)).toEqual({ status: 'connected', lastError: null })
    expect((await rig.api.get(`instances/${id}`)).body.data).toMatchObject({ waNumber: '+15550783881', status: 'connected' })
    expect(rig.standIn.callbackOf(number.businessAccountId)).toEqual({
      url: `${stage.publicUrl}/providers/cloud/${id}`,
      verifyToken: `verify-${number.id}`,
    })
    const calls = rig.standIn.requests
      .filter(({ path }) => path.startsWith(number.businessAccountId))
      .map(({ body }) => `${body}`)
    expect(calls).toEqual([
      '{}',
      JSON.stringify({ override_callback_uri: `${stage.publicUrl}/providers/cloud/${id}`, verify_token: `verify-${number.id}` }),
    ])
  })

  it('is followed live, to its end', async () => {
    const number = numberWith()
    const id = await create(number, { accessToken: 'EAAwrong' })
    const query = 'subscription ($id: ID!) { instanceState(id: $id) { status lastError } }'
    const headers = { 'x-api-key': rig.account.apiKey }
    const stream = await openSse(`${rig.gateway.url}/graphql`, { headers, body: { query, variables: { id } } })
    const states = () => stream.events.flatMap(({ data }) => (data ? [Object.values(JSON.parse(data).data.instanceState)] : []))
    await until(() => states().length === 1)
    // A stream tells the latest state, so a state that lasts too short is left out.
    const { promise: seen, resolve } = Promise.withResolvers<void>()
    rig.standIn.addFault({ on: new RegExp(`GET ${number.id}$`), effect: seen })
    await rig.api.post(`instances/${id}/connect`)
    await until(() => states().at(-1)?.[0] === 'connecting')
    resolve()
    await until(() => states().at(-1)?.[0] === 'disconnected')
    await rig.api.put(`instances/${id}`, { settings: { accessToken: number.accessToken } })
    await until(() => states().at(-1)?.[0] === 'connected')
    expect(states().at(0)).toEqual(['created', null])
    expect(states()).toContainEqual(['connecting', null])
    expect(states()).toContainEqual(['disconnected', 'the access token was refused (190)'])
    expect(states().at(-1)).toEqual(['connected', null])
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
      {
        status: 'disconnected',
        lastError: expect.stringMatching(
          /^the accessToken has no number with this phoneNumberId: Object with ID '123'.* \(100\)$/,
        ),
      },
    ],
    [
      'names the id of a business account that is unknown',
      {},
      { businessAccountId: '123' },
      {
        status: 'connected',
        lastError: expect.stringMatching(
          /^the webhooks were not subscribed: the accessToken has no business account with this businessAccountId: .* \(100\)$/,
        ),
      },
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
    // The plan limits the number of instances.
    await rig.api.delete(`instances/${id}`)
  })

  it('says that the app secret is of another app, until the right one is given', async () => {
    const number = numberWith()
    const id = await create(number, { appSecret: 'of-another-app' })
    const lastError = 'the webhooks were not subscribed: the appSecret is not that of the app that made the accessToken'
    expect(await rig.connect(id)).toEqual({ status: 'connected', lastError })
    await rig.api.put(`instances/${id}`, { settings: { appSecret: number.appSecret } })
    await until(async () => (await rig.state(id)).lastError === null)
    expect(rig.standIn.callbackOf(number.businessAccountId)).toBeDefined()
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
