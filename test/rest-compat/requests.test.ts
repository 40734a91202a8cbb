// Rules for every REST request: headers, paths, methods, bodies.
import { request as httpRequest, METHODS } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { send } from '../promises/wire.ts'
import { expectRefusal, nobody, openRig, type Rig, text } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const json = { 'content-type': 'application/json' }

function post(path: string, body: BodyInit, headers: Record<string, string> = json): Promise<Response> {
  const init = { method: 'POST', body, headers: { 'x-api-key': rig.tenant.account.apiKey, ...headers } }
  return fetch(`${rig.gateway.url}/api/v1/${path}`, init)
}

async function answerOf(response: Response) {
  return { status: response.status, headers: response.headers, body: await response.json() }
}

describe('headers', () => {
  it('return the id of the request if it is valid, else a new one', async () => {
    for (const id of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
      for (const path of ['messages', 'nowhere', 'messages?limit=0', '/livez', '/api/v1/messages/%zz']) {
        expect((await rig.tenant.api.get(path, { 'x-request-id': id })).headers.get('x-request-id')).toBe(id)
      }
    }
    for (const id of ['x'.repeat(129), 'a b', 'ä', 'a/b', '<b>']) {
      const headers = { 'x-request-id': encodeURI(id) }
      const given = (await rig.tenant.api.get('messages', headers)).headers.get('x-request-id')
      expect(given).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  it('report the rate limit of the key, whatever the answer', async () => {
    const answers = [
      await rig.tenant.api.get('me'),
      await rig.tenant.api.get('messages?limit=0'),
      await rig.tenant.api.get(`messages/${nobody}`),
      await rig.tenant.api.post('messages/send', '{'),
      await rig.tenant.api.post('statuses'),
      await rig.tenant.api.graphql('{ me { id } }'),
    ]
    for (const { headers } of answers) {
      expect(headers.get('ratelimit-limit')).toBe('100000')
      expect(Number(headers.get('ratelimit-remaining'))).toBeGreaterThan(99_000)
      expect(headers.get('ratelimit-reset')).toBe('1')
    }
  })

  it('report the rate limit on a stream too', async () => {
    const stop = new AbortController()
    const headers = { 'x-api-key': rig.tenant.account.apiKey }
    const stream = await fetch(`${rig.gateway.url}/api/v1/events/stream`, { headers, signal: stop.signal })
    expect(stream.headers.get('ratelimit-limit')).toBe('100000')
    expect(stream.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    stop.abort()
  })

  it('allow no other origin to read the response', async () => {
    for (const origin of ['https://evil.example', 'null']) {
      const { headers } = await rig.tenant.api.get('me', { origin })
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  })
})

describe('a path', () => {
  it.each([
    '',
    'nowhere',
    '/api/v1',
    '/api/v1//me',
    '/API/v1/me',
    '/api/v1/%2e%2e%2fme',
    '/api/v1/me%00',
    '/api/v1/ｍe',
    '/api/v2/me',
    '/api/v2/messages',
    '/graphiql',
    '/.env',
  ])('"%s" is not found', async (path) => {
    expectRefusal(await rig.tenant.api.get(path), 404, 'NOT_FOUND', 'Not found')
  })

  // Clients resolve such segments before they send, so these paths go over a raw socket.
  it.each(['/api/v1/%2e%2e/me', '/api/v1/../me', '/api/v1/./me'])('"%s" is not resolved to another route', async (path) => {
    const head = `Host: x\r\nConnection: close\r\nx-api-key: ${rig.tenant.account.apiKey}`
    const { text } = await send(rig.gateway, `GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 404 /)
  })

  it.each([
    ['messages/send', 'GET, HEAD, PUT, DELETE, PATCH, OPTIONS, TRACE, PROPFIND', 'POST'],
    ['me', 'POST, HEAD, PUT, DELETE, PATCH, OPTIONS, TRACE', 'GET'],
    ['instances', 'PUT, DELETE, PATCH', 'GET, POST'],
    [`webhooks/${nobody}`, 'POST, PATCH', 'GET, PUT, DELETE'],
    ['statuses', 'GET', 'POST'],
    ['events/stream', 'POST, M-SEARCH', 'GET'],
  ])('%s answers 405 with its allowed methods', async (path, methods, allowed) => {
    for (const method of methods.split(', ')) {
      const { status, headers, body } = await raw(method, `/api/v1/${path}`)
      expect([method, status, headers.allow]).toEqual([method, 405, allowed])
      if (method !== 'HEAD')
        expect(JSON.parse(body)).toEqual({ error: { code: 'METHOD_NOT_ALLOWED', message: expect.any(String) } })
    }
  })

  it.each(['{', 'x'.repeat(2_000_000)])(
    'that is unknown, or not allowed for the method, is refused before the body is read',
    async (body) => {
      for (const headers of [json, { 'content-type': 'text/plain' }]) {
        expectRefusal(await answerOf(await post('nowhere', body, headers)), 404, 'NOT_FOUND')
        expectRefusal(await answerOf(await post('me', body, headers)), 405, 'METHOD_NOT_ALLOWED')
      }
      const anonymous = await api(rig.gateway).post('/graphql', body)
      expect([anonymous.status, anonymous.body.errors[0].extensions.code]).toEqual([401, 'UNAUTHORIZED'])
    },
  )

  it('handles every HTTP method that Node knows', async () => {
    for (const method of METHODS.filter((name) => name !== 'CONNECT' && name !== 'GET')) {
      expect([method, (await raw(method, '/livez')).headers.allow]).toEqual([method, 'GET'])
      expect([method, (await raw(method, '/api/v1/nowhere')).status]).toEqual([method, 404])
      if (method !== 'POST') expect([method, (await raw(method, '/graphql')).headers.allow]).toEqual([method, 'GET, POST'])
    }
  })

  it('ignores a header that overrides the method', async () => {
    expectRefusal(await rig.tenant.api.post('me', {}, { 'x-http-method-override': 'GET' }), 405, 'METHOD_NOT_ALLOWED')
  })
})

/** `fetch` supports only some methods. */
function raw(method: string, path: string): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { 'x-api-key': rig.tenant.account.apiKey } }
    const sending = httpRequest(new URL(path, rig.gateway.url), options, async (response) => {
      let body = ''
      for await (const chunk of response) body += chunk
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
    })
    sending.on('error', reject).end()
  })
}

describe('a body', () => {
  it.each<[string, string | Buffer]>([
    ['cut off', '{"to":'],
    ['with something behind it', '{} x'],
    ['that is NaN', 'NaN'],
    ['with a comma too many', '{"a":1,}'],
    ['with a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')])],
    ['that is no UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0xff, 0x22, 0x7d])],
  ])('%s is not valid JSON', async (_, body) => {
    expectRefusal(
      await answerOf(await post('messages/send', body as BodyInit)),
      400,
      'VALIDATION_ERROR',
      'body: is not valid JSON',
    )
  })

  it.each(['null', '[]', '""', '5', 'true', ''])('%s is not a JSON object', async (body) => {
    expectRefusal(await answerOf(await post('messages/send', body)), 400, 'VALIDATION_ERROR', 'body: must be a JSON object')
  })

  it.each(['null', '[]', '""', '5', 'true'])('%s is not a JSON object, also where the body is optional', async (body) => {
    const answer = await answerOf(await post(`instances/${rig.tenant.instance.id}/connect`, body))
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'body: must be a JSON object')
  })

  it.each([
    'text/plain',
    'application/xml',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])('of type %s is refused with 415', async (type) => {
    expectRefusal(await answerOf(await post('messages/send', '{}', { 'content-type': type })), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  it('that is compressed is refused with 415', async () => {
    expectRefusal(
      await answerOf(await post('messages/send', '{}', { ...json, 'content-encoding': 'gzip' })),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    )
  })

  it('of more than 1 MiB is refused with 413, with or without Content-Length', async () => {
    const large = JSON.stringify(text(rig.tenant, { text: 'x'.repeat(1024 * 1024) }))
    expectRefusal(await rig.tenant.api.post('messages/send', large), 413, 'PAYLOAD_TOO_LARGE')
    const chunks = new Blob([large]).stream()
    const init = { method: 'POST', body: chunks, duplex: 'half', headers: { ...json, 'x-api-key': rig.tenant.account.apiKey } }
    expectRefusal(
      await answerOf(await fetch(`${rig.gateway.url}/api/v1/messages/send`, init as RequestInit)),
      413,
      'PAYLOAD_TOO_LARGE',
    )
  })

  it('with a duplicate field uses the last value', async () => {
    const body = JSON.stringify(text(rig.tenant, { text: 'first' })).replace('"text":"first"', '"text":"first","text":"last"')
    expect((await rig.tenant.api.post('messages/send', body)).body.data.body).toBe('last')
  })
})
