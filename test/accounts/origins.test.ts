// A gateway behind public URLs: CORS allows only our own pages, and tokens and session addresses are right behind a proxy.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { newPerson, password } from './person.ts'

let databaseUrl: string
let gateway: OpenGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const env = { PUBLIC_URL: 'https://api.example.com/', CONSOLE_URL: 'https://console.example.com/app', TRUST_PROXY: '1' }
  gateway = await openGateway({ databaseUrl, env })
})

async function preflight(origin: string, path = '/api/auth/login', method = 'POST'): Promise<Record<string, string | null>> {
  const headers = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type,x-team-id',
  }
  const answer = await fetch(`${gateway.url}${path}`, { method: 'OPTIONS', headers })
  const outcome = (name: string) => answer.headers.get(`access-control-${name}`)
  return {
    origin: outcome('allow-origin'),
    credentials: outcome('allow-credentials'),
    headers: outcome('allow-headers'),
    methods: outcome('allow-methods'),
    age: outcome('max-age'),
    sniffing: answer.headers.get('x-content-type-options'),
  }
}

it('accepts a signed-in person when PUBLIC_URL ends with a slash', async () => {
  const person = await newPerson(gateway, databaseUrl)
  expect((await person.api.get('/api/instances')).status).toBe(200)
  const { iss } = JSON.parse(Buffer.from(person.token.split('.')[1] as string, 'base64url').toString())
  expect(iss).toBe('https://api.example.com')
})

it.each(['203.0.113.7', '2001:db8:1:2:3:4:5:6'])(
  'lists a session with the client address that it was started from: %s',
  async (address) => {
    const person = await newPerson(gateway, databaseUrl)
    const login = { email: person.email, password }
    await api(gateway).post('/api/auth/login', login, { 'x-forwarded-for': address })
    const list: { ipAddress: string }[] = (await person.api.get('/api/auth/sessions')).body.data
    expect(list.map(({ ipAddress }) => ipAddress)).toEqual([address, '127.0.0.1'])
  },
)

describe('a page', () => {
  it.each(['https://api.example.com', 'https://console.example.com'])('of %s may call, with the cookie', async (origin) => {
    expect(await preflight(origin)).toMatchObject({
      origin,
      credentials: 'true',
      headers: 'authorization,content-type,x-team-id',
      sniffing: 'nosniff',
    })
  })

  it('of the console sends one preflight request in ten minutes', async () => {
    expect(await preflight('https://console.example.com', '/api/contacts', 'PUT')).toMatchObject({ age: '600' })
  })

  it.each([
    ['DELETE', '/api/auth/sessions/x'],
    ['DELETE', '/api/api-keys/x'],
    ['PUT', '/api/contacts/x'],
    ['POST', '/api/messages/send'],
    ['GET', '/api/contacts'],
  ])('of the console may use every method of a route: %s %s', async (method, path) => {
    const { methods } = await preflight('https://console.example.com', path, method)
    expect(methods?.split(/, ?/)).toContain(method)
  })

  it('of the console reads the limits of its requests and the name of an export', async () => {
    const { headers } = await fetch(`${gateway.url}/api/v1/me`, { headers: { origin: 'https://console.example.com' } })
    const exposed = headers.get('access-control-expose-headers')?.split(/, ?/)
    expect(exposed).toEqual(expect.arrayContaining(['RateLimit-Remaining', 'Retry-After', 'X-Request-Id', 'Content-Disposition']))
  })

  it.each(['https://evil.example', 'http://console.example.com', 'https://console.example.com.evil.example', 'null'])(
    'of %s may not call',
    async (origin) => {
      expect((await preflight(origin)).origin).toBeNull()
    },
  )
})

interface Refused {
  error?: { code: string }
  errors?: { extensions: { code: string } }[]
}

it.each([
  ['/api/v1/messages/send', 405, 'POST'],
  ['/api/auth/login', 405, 'POST'],
  ['/graphql', 405, 'GET, POST'],
  ['/', 405, 'GET'],
  ['/api/nowhere', 404, null],
])('refuses an OPTIONS request that is no preflight as any other method: %s', async (path, status, allowed) => {
  const asked = { origin: 'https://console.example.com', 'access-control-request-method': '' }
  for (const headers of [{}, asked] as Record<string, string>[]) {
    const answer = await fetch(gateway.url + path, { method: 'OPTIONS', headers })
    expect([answer.status, answer.headers.get('allow')]).toEqual([status, allowed])
    const { error, errors } = (await answer.json()) as Refused
    expect(error?.code ?? errors?.[0]?.extensions.code).toBe(status === 404 ? 'NOT_FOUND' : 'METHOD_NOT_ALLOWED')
  }
})
