// Proves the order of processing: the caller is authenticated by the headers, and only then is a body read.
import { connect } from 'node:net'
import { beforeAll, expect, it } from 'vitest'
import { newPerson, type Person } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { openRig, type Rig, text } from '../rest-compat/rig.ts'
import { send, sendInParts } from './wire.ts'

const MiB = 1024 * 1024

let rig: Rig
let person: Person

beforeAll(async () => {
  rig = await openRig()
  person = await newPerson(rig.gateway, rig.databaseUrl)
})

interface Ended {
  answer: string
  /** Bytes of the body that were written before the connection closed, including the socket buffers of both sides. */
  sentBytes: number
}

/** Sends a request's head, then body bytes for as long as the other side keeps the connection open. */
function pour(head: string): Promise<Ended> {
  const { hostname, port } = new URL(rig.gateway.url)
  const piece = Buffer.alloc(64 * 1024, 'a')
  return new Promise((resolve) => {
    // With allowHalfOpen, it continues to send after the server has ended its side.
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
    let answer = ''
    let sentBytes = 0
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => {}).on('close', () => resolve({ answer, sentBytes }))
    const more = (error?: Error | null) => {
      if (error) return
      sentBytes += piece.length
      socket.write(piece, (fault) => setImmediate(more, fault))
    }
    socket.write(head, more)
  })
}

const strangers = {
  'an unknown key': { 'x-api-key': `svc_live_${'0'.repeat(64)}` },
  'no key': {},
  'a malformed key': { 'x-api-key': 'x' },
  'a forged token': { authorization: 'Bearer a.b.c' },
}

it.each([
  ['POST', '/graphql'],
  ['POST', '/graphql/stream'],
  ['PUT', '/graphql/stream'],
  ['POST', '/api/v1/messages/bulk'],
  ['POST', '/api/v1/media'],
  ['POST', '/api/messages/bulk'],
  ['POST', '/api/campaigns'],
])('%s %s answers 401 before it reads the body, and closes connections that go on sending', async (method, path) => {
  const ended = await Promise.all(
    Object.values(strangers).map((credential) => {
      const headers = { host: 'x', 'content-type': 'application/json', 'content-length': 1_000 * MiB, ...credential }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      return pour(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    }),
  )
  for (const { answer, sentBytes } of ended) {
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(answer).toMatch(/"code":"UNAUTHORIZED"/)
    expect(answer).toMatch(/\r\nconnection: close\r\n/i)
    // The bound is what the socket buffers of a connection can hold.
    expect(sentBytes).toBeLessThan(32 * MiB)
  }
})

it('keeps the connection of a refused request whose body is small', async () => {
  const { hostname, port } = new URL(rig.gateway.url)
  const socket = connect(Number(port), hostname)
  const body = 'x'.repeat(100_000)
  const ask = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const answers = await new Promise<string>((resolve) => {
    let text = ''
    socket.on('data', (data) => {
      text += data
      if ((text.match(/UNAUTHORIZED/g) ?? []).length === 2) resolve(text)
    })
    socket.write(ask + ask)
  })
  socket.destroy()
  expect(answers.match(/HTTP\/1\.1 401/g)).toHaveLength(2)
})

it('accepts bodies of up to 16 KiB on the authentication routes', async () => {
  const login = (bytes: number) => ({ email: 'nobody@example.com', password: 'correct horse battery', more: 'x'.repeat(bytes) })
  const answer = await api(rig.gateway).post('/api/auth/login', login(17_000))
  expect(answer.status).toBe(413)
  expect((await api(rig.gateway).post('/api/auth/login', login(15_000))).status).toBe(401)
})

it('does not count a request that the team key rules refuse after its document is parsed', async () => {
  const { account, api: client } = rig.tenant
  const counted = async () => {
    const { rows } = await sql(rig.databaseUrl).query(
      'select coalesce(sum("apiRequestsCount"), 0)::int as n from api_usage where "userId" = $1',
      [account.userId],
    )
    return rows[0]?.n as number
  }
  await client.graphql('{ instances { id } }')
  const before = await counted()
  const refused = await client.graphql('{ instances { id } }', {}, { 'x-team-id': crypto.randomUUID() })
  expect(refused.status).toBe(403)
  expect(refused.body.errors[0].extensions.code).toBe('TEAM_KEY_REQUIRED')
  expect(await counted()).toBe(before)
  // The plan catalogue belongs to no workspace, so the header does not matter.
  expect((await client.graphql('{ plans { code } }', {}, { 'x-team-id': crypto.randomUUID() })).status).toBe(200)
  expect(await counted()).toBe(before + 1)
})

it('refuses a team that the caller is not a member of only where the document accesses a workspace', async () => {
  const team = { 'x-team-id': crypto.randomUUID() }
  const about = async (query: string) => (await person.api.graphql(query, {}, team)).body
  expect((await about('{ instances { id } }')).errors[0].extensions.code).toBe('TEAM_NOT_FOUND')
  expect((await about('{ plans { code } }')).data.plans).toHaveLength(3)
})

it('reports "body" as the place when a whole body is refused', async () => {
  const list = JSON.stringify({ ...text(rig.tenant), variables: Array(100_001).fill(1) })
  const rest = await rig.tenant.api.post('messages/send', list)
  expect(rest.body.error).toEqual({ code: 'VALIDATION_ERROR', message: 'body: must not have more than 100000 values' })
  const variables = { a: Array(2_400_001).fill(1) }
  const graph = await rig.tenant.api.graphql('{ __typename }', variables)
  expect(graph.body.errors[0].message).toBe('body: must not have more than 2400000 values')
})

it.each(['/graphql', '/api/v1/messages/send'])(
  'asks for a body that waits for 100 Continue only once the caller is admitted, at %s',
  async (path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\nExpect: 100-continue\r\n`
    const body = '{"query":"{ __typename }"}'
    const ask = (key: string) => `${head}x-api-key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n`
    const unknown = await send(rig.gateway, ask(`svc_live_${'0'.repeat(64)}`))
    expect(unknown.text).toMatch(/^HTTP\/1\.1 401 /)
    const known = await sendInParts(rig.gateway, [ask(rig.tenant.account.apiKey), body], /100 Continue/)
    expect(known.text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 (200|400) /)
  },
)

it('sends no 100 Continue to a client of HTTP/1.0, which would take it for the answer', async () => {
  const head = `POST /api/v1/messages/send HTTP/1.0\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n`
  const { text } = await send(rig.gateway, `${head}x-api-key: ${rig.tenant.account.apiKey}\r\nContent-Length: 2\r\n\r\n{}`)
  expect(text).toMatch(/^HTTP\/1\.1 400 /)
})
