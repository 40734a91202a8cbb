// SIGTERM in the middle of work: running work ends, work not begun is handed over, and streams end with a retry hint.
import { once } from 'node:events'
import net from 'node:net'
import { expect, it, onTestFailed } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { allowed } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { openStage, pickFrom, seeded, startLoad, text } from './rig.ts'

it('stops under load within 10 s, with exit code 0 and nothing lost or sent twice', async () => {
  const stage = await openStage()
  const [leaving, staying] = await Promise.all([stage.start(), stage.open()])
  onTestFailed(() => console.error([leaving, staying].map(({ logs }) => logs.slice(-20).join('\n')).join('\n---\n')))
  const random = seeded(16)
  let nodes: { url: string }[] = [leaving, staying]
  const load = startLoad(
    stage.account,
    () => pickFrom(nodes, random),
    () => text(pickFrom([stage.sure, stage.blind], random)),
    10,
  )
  const stream = await fetch(`${leaving.url}/api/v1/events/stream`, { headers: { 'x-api-key': stage.account.apiKey } })
  const heard = stream.text()
  await until(() => load.acknowledged.length >= 150)

  const stopAt = Date.now()
  leaving.kill('SIGTERM')
  const exit = await leaving.exited
  const tookMs = Date.now() - stopAt
  nodes = [staying]
  const said = await heard
  await until(() => load.answers.some(({ status, at }) => status === 201 && at > stopAt + tookMs))
  await load.stop()

  expect(exit).toEqual({ code: 0, signal: null })
  expect(tookMs).toBeLessThan(allowed(10_000))
  expect(said, 'the stream ends with when to come back').toMatch(/\nretry: \d+\n\n$/)
  const refusals = load.answers.filter(({ status }) => status !== 201)
  expect(refusals.every(({ status, retryAfter }) => status === 503 && retryAfter !== null)).toBe(true)
  await expectInvariants(stage.databaseUrl, { acknowledged: load.acknowledged, messages: load.acknowledged.length })
  console.log(`F16: exit after ${tookMs} ms, ${load.acknowledged.length} messages, ${refusals.length} refusals`)
})

it('serves on for DRAIN_SECONDS while it reports that it is not ready', async () => {
  const stage = await openStage()
  const gateway = await stage.start({ DRAIN_SECONDS: '8' })
  gateway.kill('SIGTERM')
  const readiness = async () => (await fetch(`${gateway.url}/readyz`)).status
  await until(async () => (await readiness()) === 503)
  const sent = await api(gateway, stage.account.apiKey).post('messages/send', text(stage.sure))
  expect(sent.status).toBe(201)
  expect(await gateway.exited).toEqual({ code: 0, signal: null })
})

it('refuses requests on open connections in the error envelope while it stops, and reports that it is not ready', async () => {
  const stage = await openStage()
  const gateway = await stage.start({ FAILPOINT: 'api.after_commit_before_reply=sleep:1500' })
  const key = `x-api-key: ${stage.account.apiKey}`
  const body = JSON.stringify(text(stage.sure))
  const json = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`
  const slow = `POST /api/v1/messages/send HTTP/1.1\r\nHost: gateway\r\n${key}\r\n${json}\r\n\r\n${body}`
  const sender = connect(gateway.url, slow)
  await until(async () => (await sql(stage.databaseUrl).query('select from messages')).rowCount === 1)
  // A partial request keeps a connection from being idle.
  const paths = [
    '/readyz',
    '/api/v1/messages',
    '/api/auth/sessions',
    '/api/auth/jwks',
    '/api/auth/oauth/sso',
    '/api/auth/oauth/sso/callback',
  ]
  const [watcher, ...readers] = paths.map((path) => connect(gateway.url, `GET ${path} HTTP/1.1\r\n`)) as [Wire, ...Wire[]]
  await until(() => [watcher, ...readers].every(({ socket }) => socket.bytesWritten))
  // When these requests are answered, the gateway has read the bytes that came earlier.
  for (let i = 0; i < 3; i++) await api(gateway).get('/livez')
  gateway.kill('SIGTERM')
  await gateway.line(/"stopping"/)
  for (const { socket } of [watcher, ...readers]) socket.write(`Host: gateway\r\n${key}\r\n\r\n`)

  expect((await sender.heard).status).toBe(201)
  for (const { heard } of readers) {
    const refused = await heard
    expect(refused.status).toBe(503)
    expect(refused.headers).toMatch(/\r\nRetry-After: \d+/i)
    expect(refused.body).toEqual({ error: { code: 'SERVICE_UNAVAILABLE', message: expect.any(String) } })
  }
  const ready = await watcher.heard
  expect([ready.status, ready.body]).toEqual([503, { status: 'unavailable', reasons: ['stopping'] }])
  expect(await gateway.exited).toEqual({ code: 0, signal: null })
})

interface Wire {
  socket: net.Socket
  heard: Promise<{ status: number; headers: string; body: unknown }>
}

/** Opens a connection, and records all that is received on it until the server closes it. */
function connect(url: string, first: string): Wire {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.write(first)
  const heard = once(socket, 'close').then(() => {
    const [headers = '', body = ''] = text.split('\r\n\r\n')
    return { status: Number(headers.slice(9, 12)), headers, body: JSON.parse(body) as unknown }
  })
  return { socket, heard }
}
