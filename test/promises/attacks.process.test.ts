// Proves that requests which are malformed at the HTTP level get the right answer at once, in the error envelope, and never a
// 5xx.
import { beforeAll, describe, expect, it } from 'vitest'
import { promptly } from '../kit/promptly.ts'
import { openProcessRig, type Rig, text } from '../rest-compat/rig.ts'
import { keepOpen, postHead, send, sendAndReset, sendInParts, wireAttacks } from './wire.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openProcessRig()
})

const tunnel = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'
const bytesOf = (attack: string) => wireAttacks.find(([name]) => name === attack)?.[1] as string

describe('malformed HTTP', () => {
  it.each(wireAttacks)('%s gets one answer, and the connection is closed', async (_, bytes, status) => {
    const { text: answered, closed } = await promptly(() => send(rig.gateway, bytes))
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual([`HTTP/1.1 ${status}`])
    const [head, body] = answered.split('\r\n\r\n') as [string, string]
    expect(head).toMatch(/content-type: application\/json; charset=utf-8/i)
    expect(head).toMatch(/x-request-id: [\w.-]+/i)
    const code = status === 405 ? 'METHOD_NOT_ALLOWED' : 'VALIDATION_ERROR'
    expect(JSON.parse(body)).toEqual({ error: { code, message: expect.any(String) } })
    expect(closed).toBe(true)
  })

  it.each(['no HTTP', 'CONNECT'])('%s holds no connection, even if the client does not close its half', async (name) => {
    await keepOpen(rig.gateway, bytesOf(name))
  })

  it('CONNECT does not end the gateway when the client resets the connection', async () => {
    for (let round = 0; round < 5; round++) {
      await sendAndReset(rig.gateway, bytesOf('CONNECT'))
      expect((await fetch(`${rig.gateway.url}/livez`)).status).toBe(200)
    }
  })

  it('bytes after a body that exceeds its Content-Length are a new request without the credentials of the first', async () => {
    const first = `${postHead}x-api-key: ${rig.tenant.account.apiKey}\r\nContent-Length: 2\r\n\r\n{}`
    const { text: answered } = await send(rig.gateway, `${first}GET /api/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 401'])
  })

  it('bytes after the unread body of a refused request are parsed as a separate request', async () => {
    const hidden = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
    const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const length = `Content-Length: ${hidden.length}\r\n\r\n${hidden}`
    const heads: [string, number][] = [
      [postHead, 401],
      ['POST /nowhere HTTP/1.1\r\nHost: x\r\n', 404],
      ['DELETE /livez HTTP/1.1\r\nHost: x\r\n', 405],
      ['POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n', 415],
      ['POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n', 401],
      ['POST /api/v1/media HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n', 401],
    ]
    for (const [head, status] of heads) {
      const { text: answered } = await send(rig.gateway, head + length + last)
      expect(answered.match(/HTTP\/1\.1 \d{3}/g), head).toEqual([`HTTP/1.1 ${status}`, 'HTTP/1.1 200'])
    }
  })

  it('a refused request whose body is then malformed gets no second answer', async () => {
    const breaks = ['2\r\n{}x\r\n', 'zz\r\n', `0\r\n${'X-A: aaaaaaaaaaaaa\r\n'.repeat(2_000)}\r\n`]
    for (const broken of breaks) {
      const ask = `${postHead}Transfer-Encoding: chunked\r\n\r\n`
      const { text: answered, closed } = await sendInParts(rig.gateway, [ask, broken], /HTTP\/1\.1 401[\s\S]*\}$/)
      expect([answered.match(/HTTP\/1\.1 \d{3}/g), closed]).toEqual([['HTTP/1.1 401'], true])
    }
  })

  it.each([
    ['NUL', '\0'],
    ['no HTTP', 'HELLO\r\n\r\n'],
    ['a header of 17 KiB', `GET /livez HTTP/1.1\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`],
  ])('a whole request gets its own answer, and not that of what stands behind it: %s', async (_, behind) => {
    const body = JSON.stringify(text(rig.tenant, { text: 'Hello' }))
    const head = `${postHead}x-api-key: ${rig.tenant.account.apiKey}\r\nContent-Length: ${body.length}\r\n\r\n`
    const { text: answered, closed } = await promptly(() => send(rig.gateway, head + body + behind))
    expect([answered.match(/HTTP\/1\.1 \d{3}/g), closed]).toEqual([['HTTP/1.1 201'], true])
    expect(answered).toMatch(/^connection: close\r$/im)
  })

  it('a stream ends when something else than HTTP stands behind its request, and has no other answer within it', async () => {
    const ask = `GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nx-api-key: ${rig.tenant.account.apiKey}\r\n\r\n`
    const { text: answered, closed } = await promptly(() => sendInParts(rig.gateway, [ask, 'HELLO\r\n\r\n'], /retry: /))
    expect([answered.match(/HTTP\/1\.1 \d{3}/g), closed]).toEqual([['HTTP/1.1 200'], true])
  })

  it.each([
    ['is malformed', `${postHead}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
    ['arrives in too many small chunks', `${postHead}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(5_000)}`],
    ['asks for a tunnel', tunnel],
    ['waits, and one behind it asks for a tunnel', `GET /livez HTTP/1.1\r\nHost: x\r\n\r\n${tunnel}`],
  ])('an answer that has begun has no other one within it when the next request %s', async (_, next) => {
    const stream = `GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nx-api-key: ${rig.tenant.account.apiKey}\r\n\r\n`
    const { text: answered, closed } = await sendInParts(rig.gateway, [stream, next], /retry: /)
    expect([answered.match(/HTTP\/1\.1 \d{3}/g), closed]).toEqual([['HTTP/1.1 200'], true])
  })

  it('a pipelined request begins once the answer before it has left, and never if the connection ends first', async () => {
    const key = `x-api-key: ${rig.tenant.account.apiKey}\r\n`
    const to = '+4915112345688'
    const message = text(rig.tenant, { text: 'Hello', to })
    const body = JSON.stringify(message)
    const order = `${postHead}${key}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const [me, stream] = ['me', 'events/stream'].map((path) => `GET /api/v1/${path} HTTP/1.1\r\nHost: x\r\n${key}\r\n`)
    await send(rig.gateway, stream + order, /retry: /)
    const { text: answered } = await send(rig.gateway, me + order)
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 201'])
    const { messages } = (await rig.tenant.api.get(`/api/v1/messages?to=${encodeURIComponent(to)}`)).body.data
    expect(messages).toHaveLength(1)
  })

  it('nothing behind a request without a Host header is executed, and the requests that waited leave room for others', async () => {
    const to = '+4915112345677'
    const message = text(rig.tenant, { text: 'Hello', to })
    const body = JSON.stringify(message)
    const faulty = 'GET /livez HTTP/1.1\r\n\r\n'
    const order = `${postHead}x-api-key: ${rig.tenant.account.apiKey}\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const fine = (more = '') => `GET /livez HTTP/1.1\r\nHost: x\r\n${more}\r\n`
    // Together they are more than may wait.
    for (let round = 0; round < 2; round++) {
      const { text: answered } = await send(rig.gateway, faulty + order + fine().repeat(1_500))
      expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400'])
    }
    const { text: answered } = await send(rig.gateway, fine() + fine() + fine('Connection: close\r\n'))
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual(Array(3).fill('HTTP/1.1 200'))
    const { id } = (await rig.tenant.api.post('/api/v1/messages/send', message)).body.data
    const { messages } = (await rig.tenant.api.get(`/api/v1/messages?to=${encodeURIComponent(to)}`)).body.data
    expect(messages.map((one: { id: string }) => one.id)).toEqual([id])
  })

  it('a protocol upgrade is answered in HTTP/1.1, and the connection is closed after it', async () => {
    const next = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
    for (const protocol of ['h2c', 'websocket']) {
      const ask = `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
      const { text: answered, closed } = await promptly(() => send(rig.gateway, ask + next))
      expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200'])
      expect(answered).toMatch(/^connection: close\r$/im)
      expect(closed).toBe(true)
    }
  })

  it('trailers do not add headers to a request', async () => {
    const head = `${postHead}Connection: close\r\nTransfer-Encoding: chunked\r\nTrailer: x-api-key\r\n\r\n`
    const { text: answered } = await send(rig.gateway, `${head}2\r\n{}\r\n0\r\nx-api-key: ${rig.tenant.account.apiKey}\r\n\r\n`)
    expect(answered).toMatch(/^HTTP\/1\.1 401/)
  })

  it('HTTP/1.0 needs no Host header, and keeps its connection only when it asks for keep-alive', async () => {
    const next = 'GET /livez HTTP/1.0\r\n\r\n'
    const kept = await send(rig.gateway, `GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n${next}`)
    expect(kept.text.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
    const { text: answered, closed } = await send(rig.gateway, next)
    expect([answered.match(/HTTP\/1\.1 \d{3}/g), closed]).toEqual([['HTTP/1.1 200'], true])
  })

  it('an absolute-form target is served as a local path, and its host name is not used', async () => {
    const key = `x-api-key: ${rig.tenant.account.apiKey}\r\n`
    for (const target of ['/api/v1/me', '/graphql?query={me{id}}', '/docs']) {
      const ask = `GET http://evil.example${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-graphql-yoga-csrf: 1\r\n${key}\r\n`
      const { text: answered } = await send(rig.gateway, ask)
      expect(answered).toMatch(/^HTTP\/1\.1 200/)
      expect(answered).not.toMatch(/evil\.example/)
    }
    const { text: other } = await send(rig.gateway, 'GET ftp://x/livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(other).toMatch(/^HTTP\/1\.1 404/)
  })

  describe('a body in chunks of one byte', () => {
    const routes = {
      REST: postHead,
      GraphQL: postHead.replace('/api/v1/messages/send', '/graphql'),
      'signing in': postHead.replace('/api/v1/messages/send', '/api/auth/login'),
      'an upload': postHead
        .replace('/api/v1/messages/send', '/api/v1/media')
        .replace('application/json', 'multipart/form-data; boundary=x'),
    }

    it.each(Object.entries(routes))('is cut off long before its route would read it to the end: %s', async (_, head) => {
      const chunked = `${head}x-api-key: ${rig.tenant.account.apiKey}\r\nTransfer-Encoding: chunked\r\n\r\n`
      const { text: answered, closed } = await send(rig.gateway, chunked + '1\r\n \r\n'.repeat(10_000))
      expect(answered).toMatch(/^HTTP\/1\.1 400/)
      expect(answered).toMatch(/"body: arrives in too many small chunks"/)
      expect(closed).toBe(true)
    })

    it('is not executed, even if its first chunks are a whole value', async () => {
      const { account, instance, api } = rig.tenant
      const to = '+4915112345699'
      const message = { instanceId: instance.id, to, type: 'text', text: 'Hello' }
      const body = JSON.stringify(message)
      const head = `${postHead}x-api-key: ${account.apiKey}\r\nTransfer-Encoding: chunked\r\n\r\n`
      // The last chunk before the end is the first one too many, so both arrive together.
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n${'1\r\n \r\n'.repeat(4_096)}0\r\n\r\n`
      await keepOpen(rig.gateway, head + chunks)
      const { id } = (await api.post('/api/v1/messages/send', message)).body.data
      const { messages } = (await api.get(`/api/v1/messages?to=${encodeURIComponent(to)}`)).body.data
      expect(messages.map((one: { id: string }) => one.id)).toEqual([id])
    })

    it('is read when it is small, as is a large body in chunks of a usual size', async () => {
      const chunked = `${postHead}x-api-key: ${rig.tenant.account.apiKey}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
      const usual = `200\r\n${' '.repeat(512)}\r\n`.repeat(2_000)
      for (const body of ['1\r\n \r\n'.repeat(4_000), usual]) {
        const { text: answered } = await send(rig.gateway, `${chunked}${body}2\r\n{}\r\n0\r\n\r\n`)
        expect(answered).toMatch(/"instanceId: /)
      }
    })
  })

  it('headers that claim another identity or host have no effect', async () => {
    const { account } = rig.tenant
    const claims = [
      'X-User-Id',
      'X-Workspace-Id',
      'X-Real-IP',
      'X-Forwarded-For',
      'X-Forwarded-Host',
      'X-Original-URL',
      'Forwarded',
    ]
    const lines = claims.map((name) => `${name}: ${rig.stranger.account.userId}\r\n`).join('')
    const ask = `GET /api/v1/me HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\nx-api-key: ${account.apiKey}\r\n${lines}\r\n`
    const { text: answered } = await send(rig.gateway, ask)
    expect(answered).toMatch(/^HTTP\/1\.1 200/)
    expect(JSON.parse(answered.split('\r\n\r\n')[1] as string).data.id).toBe(account.userId)
    expect(answered).not.toMatch(/evil\.example/)
  })
})
