// Many operations on one connection, with requests that reach different processes, as behind a load balancer without sticky routing.
import { createClient } from 'graphql-sse'
import { beforeAll, expect, it } from 'vitest'
import { emit } from '../../src/events/log/emit.ts'
import { createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import type { Gateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateways } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { type LiveRig, liveEnv, openLiveRig } from './live-rig.ts'
import { newEvent } from './rig.ts'
import { openSse } from './sse.ts'

let live: LiveRig
let nodes: [OpenGateway, Gateway]

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  nodes = await openGateways({ databaseUrl, env: liveEnv })
  live = await openLiveRig({ databaseUrl, gateway: nodes[0] })
})

const addressOf = (node: number) => new URL('/graphql/stream', nodes[node]?.url).href
const subscription = 'subscription { events { payload } }'

async function reserve(node: number): Promise<string> {
  const reserved = await fetch(addressOf(node), { method: 'PUT', headers: live.key })
  expect(reserved.status).toBe(201)
  return await reserved.text()
}

/** Requests an operation from one process. Returns the answer's status and body. */
async function operate(node: number, token: string, operationId: string, fields: object = {}, headers = live.key) {
  const answer = await fetch(addressOf(node), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-graphql-event-stream-token': token, ...headers },
    body: JSON.stringify({ query: subscription, extensions: { operationId }, ...fields }),
  })
  return [answer.status, await answer.text()] as const
}

const statusOf = async (...request: Parameters<typeof operate>) => (await operate(...request))[0]
const happen = (n: number) => emit(sql(live.databaseUrl), [newEvent(live.place, n)])

let happened = 0
const happenNext = () => happen(++happened)

it.each([0, 1])('serves a client whose requests reach the processes in turns, starting with process %i', async (process) => {
  let turn = process
  const client = createClient({
    url: addressOf(0),
    // The client adds its token to this object.
    headers: { ...live.key },
    singleConnection: true,
    // A process that computes for 5 s, as a cold one can on a slow machine, is asked in vain, and the answer is 503.
    retryAttempts: 5,
    retry: async () => {},
    fetchFn: (url: string, init: RequestInit) => fetch(url.replace(addressOf(0), addressOf(turn++ % 2)), init),
  })
  atEnd('test', async () => client.dispose())
  const got: string[] = []
  const stop = client.subscribe<{ events: { payload: { n: string } } }>(
    { query: subscription },
    { next: ({ data }) => got.push(data?.events.payload.n ?? ''), error: (error) => got.push(String(error)), complete: () => {} },
  )
  for (const _ of [1, 2]) {
    const answers = []
    for await (const { data } of client.iterate({ query: '{ instances { id } }' })) answers.push(data)
    expect(answers).toEqual([{ instances: [{ id: live.place.instanceId }] }])
  }
  await until(async () => {
    if (got.length > 0) return true
    await happenNext()
    return false
  })
  await happenNext()
  const first = Number(got[0])
  await until(() => got.length > happened - first || Number.isNaN(Number(got.at(-1))))
  expect(got).toEqual(Array.from({ length: happened - first + 1 }, (_, i) => String(first + i)))
  stop()
})

it('moves a reserved connection to the process that the client connects to, with the operations that began before', async () => {
  const token = await reserve(0)
  expect(await statusOf(0, token, 'early')).toBe(202)
  expect(await statusOf(1, token, 'query', { query: '{ instances { id } }' })).toBe(202)
  await happen(1)
  const stream = await openSse(`${addressOf(1)}?token=${token}`)
  expect(stream.status).toBe(200)
  await until(() => stream.events.length === 3)
  const seen = stream.events.map(({ event, data }) => [event, JSON.parse(data ?? '').id])
  expect(seen.sort()).toEqual([
    ['complete', 'query'],
    ['next', 'early'],
    ['next', 'query'],
  ])
  for (const node of [0, 1]) {
    expect((await openSse(`${addressOf(node)}?token=${token}`)).status).toBe(409)
    expect(await statusOf(node, token, 'early')).toBe(409)
  }
  await happen(2)
  await until(() => stream.events.length === 4)
  stream.close()
  for (const node of [0, 1]) await until(async () => (await statusOf(node, token, 'late')) === 404)
})

it('answers a request that reaches another process with the same status and text', async () => {
  const token = await reserve(0)
  const foreign = { 'x-api-key': (await createAccount(live.databaseUrl)).apiKey }
  const requests: [number, Parameters<typeof operate>[3], Record<string, string>?][] = [
    [400, { query: '{' }],
    [400, { query: '{ nonsense }' }],
    [400, { extensions: {} }],
    [404, {}, foreign],
    [401, {}, { 'x-api-key': 'svc_live_unknown' }],
  ]
  for (const [status, fields, headers] of requests) {
    const [here, there] = [await operate(0, token, 'a', fields, headers), await operate(1, token, 'a', fields, headers)]
    expect(there).toEqual(here)
    expect(here[0]).toBe(status)
  }
  expect(await statusOf(1, 'x'.repeat(43), 'a')).toBe(404)
  expect((await openSse(`${addressOf(1)}?token=${'x'.repeat(43)}`)).status).toBe(404)
  // Longer than one notification may be.
  expect(await statusOf(1, token, 'long', { extensions: { operationId: 'long', padding: 'ä'.repeat(100_000) } })).toBe(202)
  const complete = (query: string) => fetch(`${addressOf(1)}?${query}&token=${token}`, { method: 'DELETE' })
  expect((await complete('operationId=long')).status).toBe(200)
  expect((await complete('operationId=unknown')).status).toBe(200)
  expect((await complete('')).status).toBe(400)
  expect(await statusOf(0, token, 'long')).toBe(202)
})

it('allows fifty operations on a connection, whichever process they reach', async () => {
  const account = await createAccount(live.databaseUrl)
  const key = { 'x-api-key': account.apiKey }
  const token = await (await fetch(addressOf(0), { method: 'PUT', headers: key })).text()
  const statuses = await Promise.all(Array.from({ length: 60 }, (_, i) => statusOf(i % 2, token, String(i), {}, key)))
  expect(statuses.filter((status) => status === 202)).toHaveLength(50)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
})

it('repeats the result of an Idempotency-Key, whichever process the request reaches', async () => {
  const token = await reserve(0)
  const stream = await openSse(`${addressOf(0)}?token=${token}`)
  const query = 'mutation { createContactGroup(input: { name: "once" }) { id } }'
  for (const [i, node] of [1, 0, 1].entries()) {
    expect(await statusOf(node, token, String(i), { query }, { ...live.key, 'idempotency-key': 'group' })).toBe(202)
    // The result, and the end of the operation.
    await until(() => stream.events.length === 2 * (i + 1))
  }
  const results = stream.events.filter(({ event }) => event === 'next').map(({ data }) => JSON.parse(data ?? '').payload)
  expect(results).toHaveLength(3)
  expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
  expect(results[0].data.createContactGroup.id).toBeTruthy()
})

it('serves on when the connection that a client opens is gone from the process that held it', async () => {
  const digest = [Buffer.from(await reserve(0))]
  await sql(live.databaseUrl).query(`update live_connections set digest = sha256('gone') where digest = sha256($1)`, digest)
  expect((await openSse(`${addressOf(1)}?token=gone`)).status).toBe(404)
  expect(await statusOf(1, 'gone', 'a')).toBe(404)
})

it('refuses a token of a killed process with 503 and then 404, and a client connects again', async () => {
  const token = await reserve(1)
  const stream = await openSse(`${addressOf(1)}?token=${token}`)
  let turn = 1
  const client = createClient({
    url: addressOf(0),
    // The client adds its token to this object.
    headers: { ...live.key },
    singleConnection: true,
    retryAttempts: 5,
    retry: async () => {},
    fetchFn: (url: string, init: RequestInit) => fetch(url.replace(addressOf(0), addressOf(turn)), init),
  })
  atEnd('test', async () => client.dispose())
  const got: string[] = []
  client.subscribe<{ events: { payload: { n: string } } }>(
    { query: subscription },
    { next: ({ data }) => got.push(data?.events.payload.n ?? ''), error: (error) => got.push(String(error)), complete: () => {} },
  )
  await happen(1)
  await until(async () => {
    if (got.length > 0) return true
    await happen(1)
    return false
  })
  // Before the process is gone, or the client could use up its attempts on it.
  turn = 0
  nodes[1].kill('SIGKILL')
  await nodes[1].exited
  await until(() => stream.ended)
  expect(await statusOf(0, token, 'a')).toBe(503)
  await sql(live.databaseUrl).query(`update live_connections set "seenAt" = now() - interval '61 seconds'`)
  expect(await statusOf(0, token, 'a')).toBe(404)
  await until(async () => {
    if (got.at(-1) === '2') return true
    await happen(2)
    return false
  })
  expect(got.filter((n) => !/^[12]$/.test(n))).toEqual([])
})
