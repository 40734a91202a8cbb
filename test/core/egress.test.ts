// What the way out promises: private networks are never reached, and no receiver costs more than its deadline and 64 KiB.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createEgress, type Egress, type EgressOptions, type PostOutcome, parseRetryAfter } from '../../src/core/egress.ts'
import { atEnd, node, root, watch } from '../kit/kit.ts'
import { type Answer, hang, openReceiver, status } from '../webhooks/receiver.ts'
import { makeCertificate } from './certificate.ts'

const loopback = ['127.0.0.1/32']

function egressWith(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ allowed: loopback, ...options })
  atEnd('test', async () => egress[Symbol.asyncDispose]())
  return egress
}

function post(egress: Egress, url: string, timeoutMs = 2_000): Promise<PostOutcome> {
  return egress.post(url, { headers: { 'content-type': 'application/json' }, body: Buffer.from('{"a":1}'), timeoutMs })
}

it('brings the body and headers as they are', async () => {
  const receiver = await openReceiver(status(201, { 'retry-after': '7' }, 'thanks'))
  expect(await post(egressWith(), receiver.url)).toEqual({ outcome: 'response', status: 201, retryAfterMs: 7000, bodyBytes: 6 })
  expect(receiver.requests).toMatchObject([{ path: '/hook', body: '{"a":1}', headers: { 'content-type': 'application/json' } }])
})

describe('private networks', () => {
  it('are refused at dial as literals, without a connection', async () => {
    const canary = await openReceiver()
    const egress = egressWith({ allowed: [] })
    for (const host of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', '[::127.0.0.1]', 'localhost']) {
      for (const scheme of ['http', 'https']) {
        expect(await post(egress, `${scheme}://${host}:${canary.port}/`)).toEqual({ outcome: 'error', reason: 'blocked_address' })
      }
    }
    expect(canary.connections).toBe(0)
  })

  it('are refused when a name that was public at creation leads there at delivery', async () => {
    const canary = await openReceiver()
    const answers = [['93.184.216.34'], ['127.0.0.1']]
    const egress = egressWith({ allowed: [], resolve: async () => answers.shift() ?? [] })
    const url = `https://rebinding.example:${canary.port}/`
    expect(await egress.checkName(new URL(url))).toBeUndefined()
    expect(await post(egress, url)).toEqual({ outcome: 'error', reason: 'blocked_address' })
    expect(canary.connections).toBe(0)
  })

  it.each([
    [['127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['2606:4700::1111', '::1']],
    [['::ffff:7f00:1']],
    [['64:ff9b::7f00:1']],
  ])('are refused when a name has the records %j, at creation and at dial', async (records) => {
    const canary = await openReceiver()
    const egress = egressWith({ allowed: [], resolve: async () => records })
    const url = `https://mixed.example:${canary.port}/`
    expect(await egress.checkName(new URL(url))).toBe('must not lead to a private network')
    expect(await post(egress, url)).toEqual({ outcome: 'error', reason: 'blocked_address' })
    expect(canary.connections).toBe(0)
  })

  it('are told apart from nothing: an open port and a closed one get the same answer', async () => {
    const canary = await openReceiver()
    const egress = egressWith({ allowed: [], resolve: async () => ['127.0.0.1'] })
    const opened = await post(egress, `https://name.example:${canary.port}/`)
    const closed = await post(egress, 'https://name.example:1025/')
    expect(opened).toEqual(closed)
  })

  it('that are allowed may be reached by name and over http', async () => {
    const receiver = await openReceiver()
    const egress = egressWith({ resolve: async () => ['127.0.0.1'] })
    const url = `http://receiver.example:${receiver.port}/`
    expect(await egress.checkName(new URL(url))).toBeUndefined()
    expect(await post(egress, url)).toMatchObject({ outcome: 'response', status: 200 })
  })

  it('are the only ones that http may reach', async () => {
    const egress = egressWith({ resolve: async () => ['93.184.216.34'] })
    expect(await egress.checkName(new URL('http://public.example/'))).toBe('must not lead to a private network')
    expect(await post(egress, 'http://public.example/')).toEqual({ outcome: 'error', reason: 'blocked_address' })
  })
})

it('lets a name that nobody knows pass at creation, and fails at delivery', async () => {
  const egress = egressWith({ resolve: async () => [] })
  expect(await egress.checkName(new URL('https://later.example/'))).toBeUndefined()
  expect(await post(egress, 'https://later.example/')).toEqual({ outcome: 'error', reason: 'name_not_resolved' })
})

it.each([300, 301, 302, 303, 304, 307, 308])('does not follow a %i', async (code) => {
  const canary = await openReceiver()
  const receiver = await openReceiver(status(code, { location: canary.url }))
  expect(await post(egressWith(), receiver.url)).toMatchObject({ outcome: 'response', status: code })
  expect(canary.connections).toBe(0)
})

it('ignores proxy variables', async () => {
  const canary = await openReceiver()
  const receiver = await openReceiver()
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.1:${canary.port}`
  try {
    expect(await post(egressWith(), receiver.url)).toMatchObject({ status: 200 })
  } finally {
    for (const name of names) delete process.env[name]
  }
  expect(canary.connections).toBe(0)
})

describe('a bad receiver', () => {
  it('that hangs is left at the deadline', async () => {
    const receiver = await openReceiver(hang)
    const began = performance.now()
    expect(await post(egressWith(), receiver.url, 300)).toEqual({ outcome: 'error', reason: 'timeout' })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  const drips: Answer = (_, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(drip))
  }

  it('that drips its answer is left at the deadline', async () => {
    const receiver = await openReceiver(drips)
    const began = performance.now()
    expect(await post(egressWith(), receiver.url, 400)).toEqual({ outcome: 'error', reason: 'timeout' })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  let written = 0
  const gushes: Answer = (_, response) => {
    const chunk = Buffer.alloc(64 * 1024)
    const most = written + 130e6
    const push = () => {
      while (written < most && !response.destroyed) {
        written += chunk.length
        if (!response.write(chunk)) return response.once('drain', push)
      }
      return response.end()
    }
    response.writeHead(200)
    push()
  }

  it('that sends 130 MB is read for 64 KiB', async () => {
    const receiver = await openReceiver(gushes)
    written = 0
    const outcome = await post(egressWith(), receiver.url)
    expect(outcome).toMatchObject({ outcome: 'response', status: 200 })
    expect((outcome as { bodyBytes: number }).bodyBytes).toBeLessThan(256 * 1024)
    expect(written).toBeLessThan(16e6)
  })

  it('that sends 130 MB, or drips, costs less than 10 MB of memory, however often', async () => {
    const receivers = await Promise.all([status(200), gushes, drips].map((answer) => openReceiver(answer)))
    const script = ['--expose-gc', 'test/core/egress-process.ts', ...receivers.map(({ url }) => url)]
    const sender = watch(spawn(node, script, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }))
    const [, megabytes] = await sender.line(/^grew by (.*) MB$/)
    console.log(`F21: grew by ${megabytes} MB`)
    expect(Number(megabytes)).toBeLessThan(10)
  })

  it('that sends 1 MB of headers fails', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\n')
      for (let i = 0; i < 1000; i++) socket.write(`x-${i}: ${'a'.repeat(1000)}\r\n`)
    })
    const url = await listen(server)
    expect(await post(egressWith(), url)).toEqual({ outcome: 'error', reason: 'headers_too_large' })
  })

  it('that breaks off, breaks the chunks or speaks something else fails', async () => {
    const answers = ['', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', '220 mail.example ESMTP\r\n']
    const outcomes: PostOutcome[] = []
    for (const answer of answers) {
      const url = await listen(createServer((socket) => void socket.on('error', () => {}).once('data', () => socket.end(answer))))
      outcomes.push(await post(egressWith(), url))
    }
    expect(outcomes.map((outcome) => outcome.outcome === 'error' && outcome.reason)).toEqual([
      'connection_lost',
      'bad_response',
      'bad_response',
    ])
  })

  it('that does not let itself be connected to is left after the connect timeout', async () => {
    const silent = (await listen(createServer(() => {}))).replace('http:', 'https:')
    const began = performance.now()
    expect(await post(egressWith({ connectTimeoutMs: 200 }), silent, 5_000)).toEqual({
      outcome: 'error',
      reason: 'connect_failed',
    })
    expect(performance.now() - began).toBeLessThan(2_000)
  })

  it('that is not there fails', async () => {
    expect(await post(egressWith(), 'http://127.0.0.1:1/')).toEqual({ outcome: 'error', reason: 'connect_failed' })
  })

  it('does not keep a shutdown waiting', async () => {
    const receiver = await openReceiver(hang)
    const stop = new AbortController()
    const outcome = egressWith().post(receiver.url, {
      headers: {},
      body: Buffer.alloc(0),
      timeoutMs: 10_000,
      signal: stop.signal,
    })
    stop.abort()
    expect(await outcome).toEqual({ outcome: 'error', reason: 'interrupted' })
  })
})

describe('certificates', () => {
  const authority = makeCertificate({ address: '127.0.0.1' })
  const egress = () => egressWith({ ca: authority.cert })

  it('that are right are taken', async () => {
    const receiver = await openReceiver(status(200), makeCertificate({ address: '127.0.0.1', issuer: authority }))
    expect(await post(egress(), receiver.url)).toMatchObject({ outcome: 'response', status: 200 })
  })

  it.each([
    ['signed by themselves', 'tls_self_signed', () => makeCertificate({ address: '127.0.0.1' })],
    ['expired', 'tls_expired', () => makeCertificate({ address: '127.0.0.1', days: -1, issuer: authority })],
    ['for another host', 'tls_wrong_host', () => makeCertificate({ address: '127.0.0.9', issuer: authority })],
  ] as const)('that are %s fail as %s', async (_, reason, make) => {
    const receiver = await openReceiver(status(200), make())
    expect(await post(egress(), receiver.url)).toEqual({ outcome: 'error', reason })
    expect(receiver.requests).toEqual([])
  })

  it('cannot be switched off by the environment', async () => {
    const receiver = await openReceiver(status(200), makeCertificate({ address: '127.0.0.1' }))
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect(await post(egress(), receiver.url)).toEqual({ outcome: 'error', reason: 'tls_self_signed' })
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    }
  })

  it('do not save an outdated protocol', async () => {
    const own = makeCertificate({ address: '127.0.0.1', issuer: authority })
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    const receiver = await openReceiver(status(200), { ...own, ...old })
    expect(await post(egress(), receiver.url)).toEqual({ outcome: 'error', reason: 'tls_failed' })
  })
})

it('reads Retry-After as seconds or as a date', () => {
  expect(parseRetryAfter('120')).toBe(120_000)
  expect(parseRetryAfter(new Date(Date.now() + 60_000).toUTCString())).toBeGreaterThan(58_000)
  expect(parseRetryAfter('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0)
  for (const header of ['soon', '-1', '1e9', undefined]) expect(parseRetryAfter(header)).toBeUndefined()
})

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd('test', async () => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}
