// Proves how a client's address is determined behind proxies, and which requests count as made on this machine.
import { once } from 'node:events'
import http from 'node:http'
import { connect as tcp } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { openApp } from '../../src/app.ts'
import { readConfig } from '../../src/core/config/config.ts'
import { createHttp } from '../../src/http/create.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, ownServer, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { startGateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { openLine } from '../kit/own-line.ts'
import { until } from '../kit/until.ts'

const databaseUrl = await cloneDatabase()

/** The value of `request.ip` in a server with that TRUST_PROXY, for a request from an address with that header. */
async function addressOf(trust: string, from: string, forwardedFor?: string | string[]): Promise<string> {
  const { config, secrets } = readConfig({
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
    TRUST_PROXY: trust,
    LOG_LEVEL: 'silent',
  })
  await using app = await openApp({ config, secrets, databaseUrl })
  const server = await createHttp(app)
  server.get('/', async ({ ip }) => ip)
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as { port: number }
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  const request = http.get({ port, host: '127.0.0.1', localAddress: from, agent: false, headers })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  await server.close()
  return text
}

describe("a client's address", () => {
  it.each([
    ['0', '203.0.113.9', '127.0.0.1'],
    ['1', undefined, '127.0.0.1'],
    ['1', '203.0.113.9', '203.0.113.9'],
    // The client's own entry is on the left.
    ['1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['1', ['198.51.100.1', '203.0.113.9'], '203.0.113.9'],
    ['2', '198.51.100.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['2', '203.0.113.9', '203.0.113.9'],
    ['3', '198.51.100.1, 203.0.113.9, 10.0.0.2, 10.0.0.3', '203.0.113.9'],
    ['loopback', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['127.0.0.0/8, 10.0.0.0/8', '198.51.100.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['127.0.0.0/8, 10.0.0.0/8', '10.1.1.1, 10.0.0.2', '10.1.1.1'],
    ['loopback,uniquelocal', '2001:db8::1, fd00::5', '2001:db8::1'],
    ['192.0.2.1', '203.0.113.9', '127.0.0.1'],
  ] as const)('with TRUST_PROXY=%s and %j is %s: the rightmost that is not trusted', async (trust, header, address) => {
    expect(
      await addressOf(trust, '127.0.0.1', header === undefined ? undefined : typeof header === 'string' ? header : [...header]),
    ).toBe(address)
  })

  it('is that of the connection, when only named proxies are trusted and another host connects', async () => {
    expect(await addressOf('127.0.0.1', '127.0.0.2', '203.0.113.9')).toBe('127.0.0.2')
    expect(await addressOf('127.0.0.1', '127.0.0.1', '203.0.113.9')).toBe('203.0.113.9')
  })

  it.each([
    'garbage',
    'unknown',
    '',
    ',',
    '127.1',
    '0x7f000001',
    '2130706433',
    '0127.0.0.1',
    '203.0.113.256',
    'fe80::1%eth0',
    '203.0.113.9 x',
    '<script>',
    '203.0.113.9:x',
    '203.0.113.9/32',
    '[203.0.113.9]x',
  ])('is never the malformed %j, nor an address left of it', async (wrong) => {
    for (const header of [wrong, `198.51.100.1, ${wrong}`]) expect(await addressOf('1', '127.0.0.1', header)).toBe('127.0.0.1')
    expect(await addressOf('3', '127.0.0.1', `198.51.100.1, ${wrong}, 203.0.113.9`)).toBe('203.0.113.9')
  })

  it.each([
    ['203.0.113.9:4711', '203.0.113.9'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
  ])('is normalized: %s is %s', async (header, address) => {
    expect(await addressOf('1', '127.0.0.1', header)).toBe(address)
  })
})

describe('TRUST_PROXY', () => {
  it.each([
    'true',
    'yes',
    '-1',
    '1.5',
    '100',
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    'proxy.internal',
    '10.0.0.1;10.0.0.2',
    '1,2',
    '10.1',
  ])('refuses %s with an explanation', (value) => {
    expect(() => readConfig({ TRUST_PROXY: value })).toThrow(
      'TRUST_PROXY: must be the number of trusted proxies (1, 2, …), or their addresses, CIDRs and names (loopback, linklocal, uniquelocal), comma-separated; 0 for none',
    )
  })

  it('trusts no proxy when it is not set', () => {
    for (const env of [{}, { TRUST_PROXY: '0' }, { TRUST_PROXY: '' }]) expect(readConfig(env).config.trustProxy).toBe(false)
  })
})

/** Requests a path with headers that fetch would not send. */
async function ask(url: string, path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const request = http.get(new URL(path, url), { agent: false, headers })
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode as number, body: Buffer.concat(await response.toArray()).toString() }
}

describe('/metrics', () => {
  let open: OpenGateway
  let locked: OpenGateway

  beforeAll(async () => {
    open = await openGateway({ databaseUrl })
    locked = await openGateway({ databaseUrl, env: { METRICS_TOKEN: 'let me see' } })
  })

  it('requires the token from every client, even on this machine, when one is set', async () => {
    const { status, body } = await ask(locked.url, '/metrics')
    expect([status, JSON.parse(body).error.code]).toEqual([401, 'UNAUTHORIZED'])
    for (const wrong of ['Bearer let me se', 'Bearer let me seE', 'let me see', 'Basic let me see', 'Bearer ']) {
      expect((await ask(locked.url, '/metrics', { authorization: wrong })).status).toBe(401)
    }
    expect((await ask(locked.url, '/metrics', { authorization: 'Bearer let me see' })).status).toBe(200)
    const proxied = { authorization: 'Bearer let me see', 'x-forwarded-for': '203.0.113.9' }
    expect((await ask(locked.url, '/metrics', proxied)).status).toBe(200)
  })

  it('answers programs on this machine when no token is set', async () => {
    const { port } = new URL(open.url)
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]', '127.0.0.2']) {
      expect([host, (await ask(open.url, '/metrics', { host: `${host}:${port}` })).status]).toEqual([host, 200])
    }
  })

  it.each<[string, Record<string, string>]>([
    ['X-Forwarded-For', { 'x-forwarded-for': '127.0.0.1' }],
    ['an empty X-Forwarded-For', { 'x-forwarded-for': '' }],
    ['Forwarded', { forwarded: 'for=127.0.0.1' }],
    ['Via', { via: '1.1 proxy' }],
    ['X-Real-IP', { 'x-real-ip': '127.0.0.1' }],
    ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https' }],
    ['X-Forwarded-Host', { 'x-forwarded-host': 'localhost' }],
    ['the name of another host', { host: 'gateway.example' }],
    ['a name that begins like one of ours', { host: 'localhost.example' }],
    ['another, by a name that an address hides in', { host: '127.0.0.1.example' }],
  ])('refuses, without a token, a request that came through a proxy or from a web page: %s', async (_, headers) => {
    expect((await ask(open.url, '/metrics', headers)).status).toBe(401)
  })

  it('refuses HTTP/1.0 without a token, because a proxy that adds no headers may use it', async () => {
    const { port } = new URL(open.url)
    const socket = tcp(Number(port), '127.0.0.1')
    socket.end(`GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
    expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/^HTTP\/1\.1 401 /)
  })
})

describe('/readyz', () => {
  it('answers with a code and no database details, which are logged once', async () => {
    const server = await ownServer()
    const gateway = await startGateway({ databaseUrl: server.url })
    const look = () => api(gateway).get('/readyz')
    expect((await look()).body).toEqual({ status: 'ok', reasons: [] })
    await server.stop('immediate')
    // A probe whose connection is cut off may report that late.
    const seen = new Set<string>()
    const lookDown = async () => {
      const { status, body } = await look()
      seen.add(`${status} ${JSON.stringify(body)}`)
      return body.reasons[0] === 'database_unreachable'
    }
    await until(lookDown)
    for (let i = 0; i < 20; i++) await lookDown()
    const possible = ['200 {"status":"ok","reasons":[]}'].concat(
      ['database_unreachable', 'database_silent'].map((code) => `503 {"status":"unavailable","reasons":["${code}"]}`),
    )
    expect([...seen].filter((answer) => !possible.includes(answer))).toEqual([])
    const lines = (message: string) =>
      gateway.logs.filter((line) => line.includes(`"${message}"`)).map((line) => JSON.parse(line))
    await gateway.line(/"reason":"database_unreachable"/)
    const outcome = lines('the process cannot serve')
    expect(new Set(outcome.map(({ reason }) => reason)).size).toBe(outcome.length)
    expect(outcome).toContainEqual(
      expect.objectContaining({ level: 'warn', reason: 'database_unreachable', err: expect.stringMatching(/\w{3}/) }),
    )
    await server.start()
    await until(async () => (await look()).status === 200)
    await gateway.line(/"the process can serve again"/)
    expect(lines('the process can serve again')).toHaveLength(1)
  })

  it('distinguishes a silent database from an unreachable one', async () => {
    const line = await openLine(databaseUrl)
    const gateway = await startGateway({ databaseUrl: line.url })
    line.cut()
    const answers = await Promise.all(Array.from({ length: 24 }, () => api(gateway).get('/readyz')))
    for (const { status, body } of answers) expect([status, body.reasons]).toEqual([503, ['database_silent']])
    gateway.kill('SIGKILL')
  })

  it('reports pending migrations', async () => {
    const url = await cloneDatabase()
    const gateway = await startGateway({ databaseUrl: url })
    await sql(url).query(`update _prisma_migrations set rolled_back_at = now() where migration_name like '0010%'`)
    const { status, body } = await api(gateway).get('/readyz')
    expect([status, body]).toEqual([503, { status: 'unavailable', reasons: ['migrations_pending'] }])
    expect(await gateway.line(/"the process cannot serve"/)).toBeTruthy()
  })
})
