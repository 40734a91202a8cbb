// The three doors to live events, met with the clients that people use.
import { EventSource } from 'eventsource'
import { createClient } from 'graphql-sse'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/emit.ts'
import {
  type Account,
  api,
  atEnd,
  cloneDatabase,
  connectedInstance,
  createAccount,
  type Gateway,
  sql,
  startGateway,
  until,
} from '../kit/kit.ts'
import { emitMany, newEvent, numberOf, type Place } from './rig.ts'
import { openSse } from './sse.ts'

let databaseUrl: string
let gateway: Gateway
let account: Account
let place: Place
let key: Record<string, string>

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '1000', ROLES: 'http,relay' } })
  account = await createAccount(databaseUrl)
  place = { workspaceId: account.workspaceId, instanceId: (await connectedInstance(databaseUrl, account)).id }
  key = { 'x-api-key': account.apiKey }
})

const graphql = () => new URL('/graphql', gateway.url)
const single = () => new URL('/graphql/stream', gateway.url)
const plain = (query = '') => new URL(`/api/v1/events/stream${query}`, gateway.url)

/** The `n` of each GraphQL event that came. */
function numbers(events: readonly { data: string | undefined }[]): number[] {
  return events.flatMap(({ data }) => {
    const event = data ? JSON.parse(data).data?.events : undefined
    return event ? [Number(event.payload.n)] : []
  })
}

async function foreignInstance(): Promise<string> {
  const stranger = await createAccount(databaseUrl)
  return (await connectedInstance(databaseUrl, stranger)).id
}

describe('a plain EventSource', () => {
  function openSource(url: URL): EventSource {
    const source = new EventSource(url, {
      fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...key } }),
    })
    atEnd('test', async () => source.close())
    return source
  }

  it('gets each event under its name, with the very text of the log', async () => {
    const source = openSource(plain())
    const got: { type: string; data: string; id: string }[] = []
    for (const type of ['message.sent', 'message.read']) {
      source.addEventListener(type, ({ data, lastEventId }) => got.push({ type, data, id: lastEventId }))
    }
    await until(() => source.readyState === source.OPEN)
    await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read'), newEvent(place, 3, 'message.failed')])
    await until(() => got.length === 2)
    expect(got.map(({ type }) => type)).toEqual(['message.sent', 'message.read'])
    const { rows } = await sql(databaseUrl).query<{ payload: string }>(
      'select payload::text as payload from events order by seq desc limit 3',
    )
    expect(got.map(({ data }) => data)).toEqual([rows[2]?.payload, rows[1]?.payload])
    expect(Object.keys(JSON.parse(got[0]?.data ?? '')).slice(0, 2)).toEqual(['id', 'event'])
    expect(got.every(({ id }) => id.length > 0)).toBe(true)
  })

  it('that knows `onmessage` only is served with named=false', async () => {
    const source = openSource(plain('?named=false&types=message.read'))
    const got: number[] = []
    source.onmessage = ({ data }) => got.push(numberOf(data))
    await until(() => source.readyState === source.OPEN)
    await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read')])
    await until(() => got.length === 1)
    expect(got).toEqual([2])
  })

  it('gets what it asks for: kinds, an instance, a message', async () => {
    const other = (await connectedInstance(databaseUrl, account)).id
    const both = await openSse(plain('?types=message.sent,message.read'), { headers: key })
    const repeated = await openSse(plain('?types=message.sent&types=message.read'), { headers: key })
    const one = await openSse(plain(`?instanceId=${other.toUpperCase()}`), { headers: key })
    await emit(sql(databaseUrl), [
      newEvent(place, 1),
      newEvent({ ...place, instanceId: other }, 2, 'message.failed'),
      newEvent(place, 3, 'message.read'),
    ])
    await until(() => both.events.length === 2 && repeated.events.length === 2 && one.events.length === 1)
    expect(both.events.map(({ data }) => numberOf(data))).toEqual([1, 3])
    expect(one.events.map(({ data }) => numberOf(data))).toEqual([2])
  })

  it('gets nothing of another workspace', async () => {
    const stream = await openSse(plain(), { headers: key })
    await emit(sql(databaseUrl), [newEvent({ workspaceId: newId(), instanceId: newId() }, 1), newEvent(place, 2)])
    await until(() => stream.events.length > 0)
    expect(stream.events.map(({ data }) => numberOf(data))).toEqual([2])
  })

  it('is told where it stands before anything happened, and resumes there', async () => {
    const first = await openSse(plain(), { headers: key })
    expect(first.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    const beginning = await until(() => first.others.find((block) => block.id))
    expect(Number(beginning.retry)).toBeGreaterThan(0)
    first.close()
    await emitMany(sql(databaseUrl), place, 3)
    const second = await openSse(plain('?after=nonsense'), { headers: { ...key, 'last-event-id': beginning.id as string } })
    await until(() => second.events.length === 3)
    expect(second.events.map(({ data }) => numberOf(data))).toEqual([0, 1, 2])
  })

  it('is refused in the envelope: credential, parameters, ids that are not there', async () => {
    const foreign = await foreignInstance()
    const { get } = api(gateway, account.apiKey)
    const rows: [string, number, string, RegExp][] = [
      ['?types=nope', 400, 'VALIDATION_ERROR', /^types\.0: must be one of instance\.connected, /],
      [
        '?instanceId=x&messageId=y&named=maybe',
        400,
        'VALIDATION_ERROR',
        /instanceId: must be a UUID; messageId: must be a UUID; named: must be one of true, false/,
      ],
      ['?after=x', 400, 'VALIDATION_ERROR', /^after: is not an event cursor$/],
      [`?instanceId=${foreign}`, 404, 'NOT_FOUND', /^Instance not found$/],
      [`?messageId=${newId()}`, 404, 'NOT_FOUND', /^Message not found$/],
      [`?campaignId=${newId()}`, 404, 'NOT_FOUND', /^Campaign not found$/],
    ]
    for (const [query, status, code, message] of rows) {
      const answer = await get(`events/stream${query}`)
      expect([query, answer.status, answer.body.error?.code]).toEqual([query, status, code])
      expect(answer.body.error.message).toMatch(message)
    }
    const nobody = await api(gateway).get('events/stream')
    expect(nobody.status).toBe(401)
    expect(nobody.body).toEqual({ error: { code: 'UNAUTHORIZED', message: 'Missing or invalid API key' } })
    const late = await get('events/stream', { 'last-event-id': 'x' })
    expect(late.body.error.message).toBe('Last-Event-ID: is not an event cursor')
  })
})

describe('graphql-sse, distinct connections', () => {
  function open() {
    const client = createClient({ url: graphql().href, headers: key, retryAttempts: 0 })
    atEnd('test', async () => client.dispose())
    return client
  }

  it('subscribes, with what each event is about', async () => {
    const query = `subscription ($types: [EventType!]) {
      events(types: $types) { id type cursor createdAt payload message { id } instance { id name } }
    }`
    const results = open().iterate<{ events: Record<string, unknown> }>({ query, variables: { types: ['message_sent'] } })
    const first = results.next()
    await until(async () => (await openStreams()) >= 1)
    await emit(sql(databaseUrl), [newEvent(place, 1, 'message.read'), newEvent(place, 2)])
    const { value } = await first
    const { rows } = await sql(databaseUrl).query('select id, payload from events order by seq desc limit 1')
    expect(value.errors).toBeUndefined()
    expect(value.data?.events).toMatchObject({
      id: rows[0]?.id,
      type: 'message_sent',
      payload: rows[0]?.payload,
      message: null,
      instance: { id: place.instanceId, name: 'Phone' },
    })
    await results.return?.(undefined)
  })

  it('gets queries and mutations answered with one result', async () => {
    const results = []
    for await (const result of open().iterate({ query: '{ instances { id } }' })) results.push(result)
    expect(results).toEqual([{ data: { instances: expect.arrayContaining([{ id: place.instanceId }]) } }])
  })

  it.each([
    ['a syntax error', 'subscription {', /Syntax Error/],
    ['an unknown field', 'subscription { nothing }', /Cannot query field/],
    ['two root fields', 'subscription { events { id } more: events { id } }', /must select only one top level field/],
    ['no such operation', 'query A { instances { id } } query B { instances { id } }', /^operationName: /],
    ['a bad cursor', 'subscription { events(after: "x") { id } }', /^after: is not an event cursor$/],
    ['no kinds', 'subscription { events(types: []) { id } }', /^types: must have at least 1 item$/],
    ['a malformed id', 'subscription { events(messageId: "x") { id } }', /^messageId: must be a UUID$/],
  ])('is told of %s on the stream', async (_, query, message) => {
    const results = []
    for await (const result of open().iterate({ query })) results.push(result)
    expect(results).toHaveLength(1)
    expect(results[0]?.errors?.[0]?.message).toMatch(message)
    expect(results[0]?.errors?.[0]?.extensions?.code).toBe('VALIDATION_ERROR')
  })

  it('is told NOT_FOUND for an id of another workspace, as for one that nobody has', async () => {
    const answers = []
    for (const id of [await foreignInstance(), newId()]) {
      const query = `subscription { events(instanceId: "${id}") { id } }`
      for await (const result of open().iterate({ query })) answers.push(JSON.stringify(result.errors))
      const state = `subscription { instanceState(id: "${id}") { status } }`
      for await (const result of open().iterate({ query: state }))
        answers.push(JSON.stringify(result.errors).replace('instanceState', 'events'))
    }
    expect(answers).toHaveLength(4)
    expect(answers[0]).toContain('NOT_FOUND')
    expect(new Set(answers).size).toBe(1)
  })

  it('is told which variable does not fit', async () => {
    const query = 'subscription ($types: [EventType!]) { events(types: $types) { id } }'
    const results = []
    for await (const result of open().iterate({ query, variables: { types: ['nope'] } })) results.push(result)
    expect(results[0]?.errors?.[0]).toMatchObject({
      message: expect.stringMatching(/types/),
      extensions: { code: 'VALIDATION_ERROR' },
    })
  })

  it('replays what came after a cursor and goes on live, without sharing places in the log', async () => {
    const query = 'subscription ($from: String) { events(after: $from) { cursor payload } }'
    const body = (from?: string) => ({ query, variables: { from } })
    const live = await openSse(graphql(), { headers: key, body: body() })
    await emitMany(sql(databaseUrl), place, 250)
    await until(() => live.events.length === 250)
    const from = live.events[99]?.id
    const replayed = await openSse(graphql(), { headers: key, body: body(from) })
    await until(() => replayed.events.length === 150)
    await emitMany(sql(databaseUrl), place, 10, 250)
    await until(() => live.events.length === 260 && replayed.events.length === 160)
    expect(numbers(live.events)).toEqual(Array.from({ length: 260 }, (_, n) => n))
    expect(numbers(replayed.events)).toEqual(Array.from({ length: 160 }, (_, n) => n + 100))
    expect(replayed.events.map(({ id }) => id)).toEqual(live.events.slice(100).map(({ id }) => id))
  })

  it('serves GET with a query string, but no mutation by it', async () => {
    const url = graphql()
    url.searchParams.set('query', 'subscription ($t: [EventType!]) { events(types: $t) { payload } }')
    url.searchParams.set('variables', '{"t":["message_read"]}')
    const stream = await openSse(url, { headers: key })
    await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read')])
    await until(() => stream.events.length === 1)
    expect(numbers(stream.events)).toEqual([2])
    url.searchParams.set('variables', '{')
    expect(await openSse(url, { headers: key })).toMatchObject({ status: 400 })
    url.searchParams.set('variables', '')
    url.searchParams.set('query', `mutation { deleteInstance(id: "${place.instanceId}") { id } }`)
    const refused = await openSse(url, { headers: key })
    expect(refused.status).toBe(405)
    expect(refused.headers.allow).toBe('POST')
  })

  it('is refused with an HTTP status without a valid key', async () => {
    const refused = await openSse(graphql(), { body: { query: 'subscription { events { id } }' } })
    await until(() => refused.ended)
    expect(refused.status).toBe(401)
    expect(JSON.parse(refused.text)).toEqual({
      errors: [{ message: 'Missing or invalid API key', extensions: { code: 'UNAUTHORIZED' } }],
    })
  })
})

describe('graphql-sse, single connection', () => {
  function open() {
    const client = createClient({ url: single().href, headers: key, singleConnection: true, retryAttempts: 0 })
    atEnd('test', async () => client.dispose())
    return client
  }

  it('carries several subscriptions and queries at once; one ends and the other goes on', async () => {
    const client = open()
    const got: Record<string, number[]> = { sent: [], read: [] }
    const stops = ['sent', 'read'].map((kind) =>
      client.subscribe<{ events: { payload: { n: string } } }>(
        { query: `subscription { events(types: [message_${kind}]) { payload } }` },
        { next: ({ data }) => got[kind]?.push(Number(data?.events.payload.n)), error: () => {}, complete: () => {} },
      ),
    )
    await until(async () => (await openStreams()) >= 2)
    const answers = []
    for await (const result of client.iterate({ query: '{ instances { id } }' })) answers.push(result)
    expect(answers).toHaveLength(1)
    await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read')])
    await until(() => got.sent?.length === 1 && got.read?.length === 1)
    const before = await openStreams()
    stops[0]?.()
    await until(async () => (await openStreams()) === before - 1)
    await emit(sql(databaseUrl), [newEvent(place, 3), newEvent(place, 4, 'message.read')])
    await until(() => got.read?.length === 2)
    expect(got).toEqual({ sent: [1], read: [2, 4] })
  })

  it('is told of errors of one operation under its id', async () => {
    const client = open()
    const results = []
    for await (const result of client.iterate({ query: `subscription { events(instanceId: "${newId()}") { id } }` }))
      results.push(result)
    expect(results[0]?.errors?.[0]?.extensions?.code).toBe('NOT_FOUND')
    expect(results).toHaveLength(1)
  })

  it('keeps to the protocol: reservation, ticket, operations, completion', async () => {
    const url = single().href
    const put = await fetch(url, { method: 'PUT', headers: key })
    expect(put.status).toBe(201)
    expect(put.headers.get('content-type')).toMatch(/^text\/plain/)
    const token = await put.text()
    expect(token.length).toBeGreaterThanOrEqual(43)
    const ticket = { 'x-graphql-event-stream-token': token }
    const operate = (body: unknown, headers: Record<string, string> = { ...key, ...ticket }) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) })
    const subscription = { query: 'subscription { events { payload } }' }

    // An operation may come before its connection.
    expect((await operate({ ...subscription, extensions: { operationId: 'early' } })).status).toBe(202)
    const stream = await openSse(`${url}?token=${token}`)
    expect(stream.status).toBe(200)
    expect((await openSse(`${url}?token=${token}`)).status).toBe(409)
    await emit(sql(databaseUrl), [newEvent(place, 7)])
    await until(() => stream.events.length === 1)
    expect(JSON.parse(stream.events[0]?.data ?? '')).toMatchObject({
      id: 'early',
      payload: { data: { events: { payload: { n: '7' } } } },
    })

    expect((await operate(subscription)).status).toBe(400)
    expect((await operate({ ...subscription, extensions: { operationId: 'early' } })).status).toBe(409)
    expect((await operate({ query: '{', extensions: { operationId: 'x' } })).status).toBe(400)
    expect((await operate({ ...subscription, extensions: { operationId: 'x' } }, { ...ticket })).status).toBe(401)
    const stranger = (await createAccount(databaseUrl)).apiKey
    expect(
      (await operate({ ...subscription, extensions: { operationId: 'x' } }, { 'x-api-key': stranger, ...ticket })).status,
    ).toBe(404)
    expect(
      (await operate({ ...subscription, extensions: { operationId: 'x' } }, { ...key, 'x-graphql-event-stream-token': 'x' }))
        .status,
    ).toBe(404)
    expect((await openSse(`${url}?token=nope`)).status).toBe(404)

    const completed = await fetch(`${url}?operationId=early`, { method: 'DELETE', headers: ticket })
    expect(completed.status).toBe(200)
    expect((await fetch(url, { method: 'DELETE', headers: ticket })).status).toBe(400)
    expect((await fetch(`${url}?operationId=early`, { method: 'DELETE' })).status).toBe(404)
    expect((await fetch(url, { method: 'PUT' })).status).toBe(401)
    stream.close()
    await until(async () => (await operate({ ...subscription, extensions: { operationId: 'late' } })).status === 404)
  })
})

describe('places', () => {
  it('are fifty a key; the next stream is refused, and welcome when one ends', async () => {
    const own = { 'x-api-key': (await createAccount(databaseUrl)).apiKey }
    const streams = await Promise.all(Array.from({ length: 50 }, () => openSse(plain(), { headers: own })))
    expect(streams.every(({ status }) => status === 200)).toBe(true)
    const refused = await openSse(plain(), { headers: own })
    await until(() => refused.ended)
    expect(refused.status).toBe(429)
    expect(refused.headers['retry-after']).toBe('1')
    expect(JSON.parse(refused.text).error.code).toBe('API_RATE_LIMIT_EXCEEDED')
    expect((await openSse(graphql(), { headers: own, body: { query: 'subscription { events { id } }' } })).status).toBe(429)
    expect((await openSse(plain(), { headers: key })).status).toBe(200)
    streams[0]?.close()
    await until(async () => (await openSse(plain(), { headers: own })).status === 200)
  })
})

async function openStreams(): Promise<number> {
  const text = await (await fetch(new URL('/metrics', gateway.url))).text()
  return Number(text.match(/^gateway_open_streams (\d+)/m)?.[1])
}
