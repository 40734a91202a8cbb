// GraphQL over SSE with many operations on one connection, tested with the client of graphql-sse and with plain requests.
import { createClient } from 'graphql-sse'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { type LiveRig, openLiveRig, openStreams, singleUrl } from './live-rig.ts'
import { newEvent } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig

beforeAll(async () => {
  live = await openLiveRig()
})
beforeEach(() => openStreams(live, 0))

function open(fetchFn = fetch) {
  const client = createClient({
    url: singleUrl(live).href,
    headers: live.key,
    singleConnection: true,
    retryAttempts: 0,
    fetchFn,
  })
  atEnd('test', async () => client.dispose())
  return client
}

it('carries several subscriptions and queries at once; one ends and the other goes on', async () => {
  const { databaseUrl, place } = live
  let accepted = 0
  const client = open(async (...request) => {
    const response = await fetch(...request)
    if (response.status === 202) accepted++
    return response
  })
  const got: Record<string, number[]> = { sent: [], read: [] }
  const stops = ['sent', 'read'].map((kind) =>
    client.subscribe<{ events: { payload: { n: string } } }>(
      { query: `subscription { events(types: [message_${kind}]) { payload } }` },
      { next: ({ data }) => got[kind]?.push(Number(data?.events.payload.n)), error: () => {}, complete: () => {} },
    ),
  )
  // A stream is counted before its starting position is known. An accepted operation receives everything that follows.
  await until(() => accepted === 2)
  await openStreams(live, 2)
  const answers = []
  for await (const result of client.iterate({ query: '{ instances { id } }' })) answers.push(result)
  expect(answers).toHaveLength(1)
  await emit(sql(databaseUrl), [newEvent(place, 1), newEvent(place, 2, 'message.read')])
  await until(() => got.sent?.length === 1 && got.read?.length === 1)
  stops[0]?.()
  await openStreams(live, 1)
  await emit(sql(databaseUrl), [newEvent(place, 3), newEvent(place, 4, 'message.read')])
  await until(() => got.read?.length === 2)
  expect(got).toEqual({ sent: [1], read: [2, 4] })
})

it('reports errors of one operation under its id', async () => {
  const results = []
  for await (const result of open().iterate({ query: `subscription { events(instanceId: "${newId()}") { id } }` }))
    results.push(result)
  expect(results[0]?.errors?.[0]?.extensions?.code).toBe('NOT_FOUND')
  expect(results).toHaveLength(1)
})

const subscription = { query: 'subscription { events { payload } }' }

/** Reserves a connection and returns its token and a function that requests operations on it. */
async function reserve() {
  const url = singleUrl(live).href
  const reserved = await fetch(url, { method: 'PUT', headers: live.key })
  expect(reserved.status).toBe(201)
  expect(reserved.headers.get('content-type')).toMatch(/^text\/plain/)
  const token = await reserved.text()
  expect(token.length).toBeGreaterThanOrEqual(43)
  const ticket = { 'x-graphql-event-stream-token': token }
  async function operate(body: object, headers: Record<string, string> = { ...live.key, ...ticket }): Promise<number> {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    return (await fetch(url, init)).status
  }
  return { url, token, ticket, operate }
}

it('follows the protocol: reservation, token, operations, completion', async () => {
  const { url, token, ticket, operate } = await reserve()
  // An operation may be requested before its connection is opened.
  expect(await operate({ ...subscription, extensions: { operationId: 'early' } })).toBe(202)
  const stream = await openSse(`${url}?token=${token}`)
  expect(stream.status).toBe(200)
  expect((await openSse(`${url}?token=${token}`)).status).toBe(409)
  await emit(sql(live.databaseUrl), [newEvent(live.place, 7)])
  await until(() => stream.events.length === 1)
  expect(JSON.parse(stream.events[0]?.data ?? '')).toMatchObject({
    id: 'early',
    payload: { data: { events: { payload: { n: '7' } } } },
  })

  const complete = async (query: string, headers = {}) => (await fetch(`${url}${query}`, { method: 'DELETE', headers })).status
  expect(await complete('?operationId=early', ticket)).toBe(200)
  expect(await complete('', ticket)).toBe(400)
  expect(await complete('?operationId=early')).toBe(404)
  stream.close()
  await until(async () => (await operate({ ...subscription, extensions: { operationId: 'late' } })) === 404)
})

it('refuses operations without an id, with an id in use, and of another account', async () => {
  const { url, ticket, operate } = await reserve()
  const [first, other] = ['a', 'b'].map((operationId) => ({ ...subscription, extensions: { operationId } })) as [object, object]
  expect(await operate(first)).toBe(202)
  expect(await operate(subscription)).toBe(400)
  expect(await operate(first)).toBe(409)
  expect(await operate({ ...other, query: '{' })).toBe(400)
  expect(await operate(other, ticket)).toBe(401)
  const stranger = { 'x-api-key': (await createAccount(live.databaseUrl)).apiKey }
  expect(await operate(other, { ...stranger, ...ticket })).toBe(404)
  expect(await operate(other, { ...live.key, 'x-graphql-event-stream-token': 'x' })).toBe(404)
  expect((await openSse(`${url}?token=nope`)).status).toBe(404)
  expect((await fetch(url, { method: 'PUT' })).status).toBe(401)
  // No client connects, so the place is freed by ending the operation.
  expect((await fetch(`${url}?operationId=a`, { method: 'DELETE', headers: ticket })).status).toBe(200)
})
