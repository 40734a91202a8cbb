// Streams that open and close leave no memory behind, however they close.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import type { Gateway } from '../kit/gateway.ts'
import { holdingsOf, inspectable } from '../kit/holdings.ts'
import type { Holdings } from '../kit/inside.ts'
import { until } from '../kit/until.ts'
import { openProcessRig, type Tenant, text } from '../rest-compat/rig.ts'

const waves = 50
const waveSize = 40

/** Sends a request on a connection of its own. */
async function open({ gateway, tenant }: Place, method: string, path: string, body = '', headers = ''): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nx-api-key: ${tenant.account.apiKey}\r\nAccept: text/event-stream\r\n${headers}` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
  return socket
}

interface Place {
  gateway: Gateway
  tenant: Tenant
}

const subscribe = (query: string) => (place: Place) => open(place, 'POST', '/graphql', JSON.stringify({ query }))

/** Opens a stream at each endpoint of live events, each with a different kind of client. */
const live: ((place: Place) => Promise<Socket>)[] = [
  (place) => open(place, 'GET', '/api/v1/events/stream'),
  subscribe('subscription { events { cursor payload } }'),
  (place) => subscribe(`subscription { instanceState(id: "${place.tenant.instance.id}") { status } }`)(place),
  openSingle,
]

/** Opens a connection for many operations (single connection mode) and starts one operation on it. */
async function openSingle(place: Place): Promise<Socket> {
  const { gateway, tenant } = place
  const [address, key] = [`${gateway.url}/graphql/stream`, { 'x-api-key': tenant.account.apiKey }]
  const token = await (await fetch(address, { method: 'PUT', headers: key })).text()
  const headers = { ...key, 'x-graphql-event-stream-token': token, 'content-type': 'application/json' }
  const socket = await open(place, 'GET', '/graphql/stream', '', `x-graphql-event-stream-token: ${token}\r\n`)
  const body = JSON.stringify({ query: 'subscription { events { id } }', extensions: { operationId: '1' } })
  expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(202)
  return socket
}

async function openStreams({ gateway }: Place): Promise<number> {
  const figures = await (await fetch(`${gateway.url}/metrics`)).text()
  return Number(figures.match(/^gateway_open_streams (\d+)$/m)?.[1])
}

/** Opens forty concurrent streams over all endpoints, sends one message, and then closes them, half of them by a reset. */
async function wave(place: Place): Promise<void> {
  const readers = await Promise.all(
    Array.from({ length: waveSize }, async (_, i) => {
      const socket = await (live[i % live.length] as (typeof live)[0])(place)
      const [first] = await once(socket, 'data')
      expect(String(first)).toMatch(/^HTTP\/1\.1 200/)
      return socket.resume()
    }),
  )
  const sent = await place.tenant.api.post('messages/send', text(place.tenant))
  expect(sent.status).toBe(201)
  for (const [i, socket] of readers.entries()) {
    if (Math.floor(i / live.length) % 2 === 0) socket.resetAndDestroy()
    else socket.end()
  }
  // One more stream at each of the first three endpoints, reset without waiting for its response.
  for (const connect of live.slice(0, 3)) (await connect(place)).resetAndDestroy()
  await until(async () => (await openStreams(place)) === 0)
}

/** Returns what the gateway holds when no stream is open. Events that were just being rendered are released a moment later. */
async function held(gateway: Gateway): Promise<Holdings> {
  return await until(
    async () => {
      const holdings = await holdingsOf(gateway)
      return holdings.writers + holdings.topics === 0 && holdings
    },
    { timeoutMs: 60_000 },
  )
}

it(`releases the memory of ${waves * waveSize} streams, half of which end by a reset`, { timeout: 240_000 }, async () => {
  const rig = await openProcessRig(inspectable)
  const place = { gateway: rig.gateway, tenant: rig.tenant }
  for (let i = 0; i < 10; i++) await wave(place)
  const before = await held(rig.gateway)
  for (let i = 0; i < waves; i++) await wave(place)
  const after = await held(rig.gateway)
  console.log(`F28: heap from ${megabytes(before)} to ${megabytes(after)} MB`)
  expect(after.heapBytes).toBeLessThan(before.heapBytes * 1.1)
  expect(rig.gateway.logs.filter((line) => /MaxListenersExceeded|"level":"(error|fatal)"/.test(line))).toEqual([])
})

function megabytes({ heapBytes }: Holdings): string {
  return (heapBytes / 1e6).toFixed(1)
}
