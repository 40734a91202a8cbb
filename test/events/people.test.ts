// Limits of one person at the endpoints of live events: fifty streams over all sessions, however they are opened.
import { beforeAll, expect, it } from 'vitest'
import { newPerson, type Person, signIn } from '../accounts/person.ts'
import { until } from '../kit/until.ts'
import { graphqlUrl, type LiveRig, openLiveRig, openPlain, openStreams, singleUrl, subscription } from './live-rig.ts'
import { openSse, type SseReader } from './sse.ts'

let live: LiveRig

beforeAll(async () => {
  live = await openLiveRig()
})

/** Creates a person with three sessions and returns the headers of each. */
async function someone(): Promise<[Headers, Headers, Headers]> {
  const person = await newPerson(live.gateway, live.databaseUrl)
  const others = await Promise.all([signIn(live.gateway, person), signIn(live.gateway, person)])
  return [person, ...others].map(headersOf) as [Headers, Headers, Headers]
}

type Headers = Record<string, string>
const headersOf = ({ token }: Person): Headers => ({ authorization: `Bearer ${token}` })

const plain = (headers: Headers) => openSse(new URL('/api/events/stream', live.gateway.url), { headers })
const distinct = (headers: Headers) => openSse(graphqlUrl(live), { headers, body: { query: subscription } })

/** Reserves a connection of the single connection mode and returns its token, or the status of a refusal. */
async function reserve(headers: Headers): Promise<{ status: number; token: string }> {
  const answer = await fetch(singleUrl(live), { method: 'PUT', headers })
  return { status: answer.status, token: await answer.text() }
}

async function operate(headers: Headers, token: string, operationId: string, query = subscription): Promise<number> {
  const answer = await fetch(singleUrl(live), {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'x-graphql-event-stream-token': token },
    body: JSON.stringify({ query, extensions: { operationId } }),
  })
  return answer.status
}

const statuses = async (streams: Promise<SseReader>[]) => (await Promise.all(streams)).map(({ status }) => status)

it('allows a person fifty streams over all sessions and endpoints, refuses more, and accepts again when one ends', async () => {
  const [one, two, three] = await someone()
  const single = await reserve(three)
  const connection = await openSse(`${singleUrl(live)}?token=${single.token}`)
  expect(connection.status).toBe(200)
  const streams = await Promise.all(
    Array.from({ length: 46 }, (_, i) => [plain, distinct][i % 2]?.([one, two][i % 2] as Headers)),
  )
  expect(streams.every((stream) => stream?.status === 200)).toBe(true)
  for (const id of ['a', 'b', 'c', 'd']) expect(await operate(three, single.token, id)).toBe(202)
  await openStreams(live, 50)

  const refused = await plain(three)
  await until(() => refused.ended)
  expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
  expect(JSON.parse(refused.text).error.code).toBe('API_RATE_LIMIT_EXCEEDED')
  expect((await distinct(one)).status).toBe(429)
  expect(await operate(three, single.token, 'e')).toBe(429)
  await openStreams(live, 50)

  const [other] = await someone()
  expect(await statuses([plain(other), distinct(other), openPlain(live)])).toEqual([200, 200, 200])
  streams[0]?.close()
  await until(async () => (await plain(three)).status === 200)
})

it('allows a person fifty connections, including those that were reserved and never used', async () => {
  const [one, two, three] = await someone()
  const streams = await Promise.all([plain(one), distinct(two)])
  const reserved = await Promise.all(Array.from({ length: 60 }, (_, i) => reserve([one, two, three][i % 3] as Headers)))
  const tokens = reserved.filter(({ status }) => status === 201)
  expect(tokens).toHaveLength(48)
  expect(new Set(reserved.map(({ status }) => status))).toEqual(new Set([201, 429]))
  expect((await plain(one)).status).toBe(429)
  expect((await distinct(three)).status).toBe(429)
  // A connection that was used frees its place when it closes.
  const connection = await openSse(`${singleUrl(live)}?token=${tokens[0]?.token}`)
  expect((await reserve(two)).status).toBe(429)
  connection.close()
  await until(async () => (await reserve(two)).status === 201)
  for (const stream of streams) stream.close()
})

it('allows a person fifty operations over all reserved connections, each with an id of at most 256 characters', async () => {
  await openStreams(live, 0)
  const [one, two] = await someone()
  const [first, second] = [await reserve(one), await reserve(two)]
  const asked = Array.from({ length: 60 }, (_, i) =>
    i % 2 ? operate(one, first.token, String(i)) : operate(two, second.token, String(i)),
  )
  const sent = await Promise.all(asked)
  expect(sent.filter((status) => status === 202)).toHaveLength(50)
  expect(sent.filter((status) => status === 429)).toHaveLength(10)
  const stop = await fetch(
    `${singleUrl(live)}?operationId=${sent.indexOf(202)}&token=${sent.indexOf(202) % 2 ? first.token : second.token}`,
    {
      method: 'DELETE',
    },
  )
  expect(stop.status).toBe(200)
  await openStreams(live, 49)
  expect(await operate(one, first.token, 'x'.repeat(257))).toBe(400)
  expect(await operate(one, first.token, 'x'.repeat(256))).toBe(202)
})

it('refuses an operation with a large document or large variables', async () => {
  const [one] = await someone()
  const { token } = await reserve(one)
  const large = `${subscription} # ${'x'.repeat(20_000)}`
  expect(await operate(one, token, 'a', large)).toBe(400)
  const sent = await openSse(graphqlUrl(live), {
    headers: one,
    body: { query: subscription, variables: { after: 'x'.repeat(20_000) } },
  })
  await until(() => sent.ended)
  expect(sent.text + JSON.stringify(sent.events)).toContain('VALIDATION_ERROR')
  expect(await operate(one, token, 'b')).toBe(202)
})
