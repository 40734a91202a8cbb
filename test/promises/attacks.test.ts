// Requests that mean harm by how they are sent: each gets the right answer at once, in the envelope, and never a 5xx.
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { openRig, type Rig } from '../rest-compat/rig.ts'

let rig: Rig
/** Generous: others use this machine too. */
const promptMs = 400

beforeAll(async () => {
  rig = await openRig()
})

interface Wire {
  text: string
  /** Whether the other side ended it. */
  closed: boolean
  tookMs: number
}

/** What comes back on a connection of its own, until the other side closes it or the time is over. */
function send(bytes: string | Buffer, waitMs = 3_000): Promise<Wire> {
  const { hostname, port } = new URL(rig.gateway.url)
  const begun = performance.now()
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let answered = ''
    const end = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text: answered, closed, tookMs: performance.now() - begun })
    }
    const timer = setTimeout(() => end(false), waitMs)
    socket.on('data', (chunk) => {
      answered += chunk.toString('latin1')
    })
    socket.on('error', () => end(true))
    socket.on('close', () => end(true))
  })
}

const post = 'POST /api/v1/messages/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

describe('on the wire', () => {
  it.each<[string, string, number]>([
    ['no HTTP', 'HELLO\r\n\r\n', 400],
    ['a method that is none', 'GRAB /livez HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['bare line feeds', 'GET /livez HTTP/1.1\nHost: x\n\n', 400],
    ['a header of 17 KiB', `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(17_000)}\r\n\r\n`, 431],
    [
      '2,001 headers',
      `GET /livez HTTP/1.1\r\nHost: x\r\n${Array.from({ length: 2_001 }, (_, i) => `X-${i}: a\r\n`).join('')}\r\n`,
      431,
    ],
    ['a path of 64 KiB', `GET /${'a'.repeat(65_536)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    [
      'a length and chunks',
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n`,
      400,
    ],
    ['two lengths', `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
    ['a negative length', `${post}Content-Length: -5\r\n\r\n`, 400],
    ['an unknown transfer encoding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
    ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['CONNECT', 'CONNECT /api/v1/messages HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ])('%s gets one answer and the door', async (_, bytes, status) => {
    const { text: answered, closed, tookMs } = await send(bytes)
    expect(answered.match(/HTTP\/1\.1 \d{3}/g)).toEqual([`HTTP/1.1 ${status}`])
    const [head, body] = answered.split('\r\n\r\n') as [string, string]
    expect(head).toMatch(/content-type: application\/json; charset=utf-8/i)
    expect(head).toMatch(/x-request-id: [\w.-]+/i)
    const code = status === 405 ? 'METHOD_NOT_ALLOWED' : 'VALIDATION_ERROR'
    expect(JSON.parse(body)).toEqual({ error: { code, message: expect.any(String) } })
    expect(closed).toBe(true)
    expect(tookMs).toBeLessThan(promptMs)
  })

  it('what follows a body that is longer than said is no request', async () => {
    const { text: answered } = await send(`${post}Content-Length: 2\r\n\r\n{}GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`)
    const statuses = answered.match(/HTTP\/1\.1 \d{3}/g)
    expect(statuses?.[0]).toBe('HTTP/1.1 401')
  })

  it('1,000 requests in one packet get 1,000 answers', async () => {
    const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const { text: answered, closed } = await send('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(999) + last, 10_000)
    expect(answered.match(/HTTP\/1\.1 200/g)).toHaveLength(1_000)
    expect(closed).toBe(true)
  })

  it('slow senders are cut within 12 s, while others are served', async () => {
    const slow = [
      `GET /livez HTTP/1.1\r\nHost: x\r\nX-A: `,
      `${post}x-api-key: ${rig.tenant.account.apiKey}\r\nContent-Length: 1000\r\n\r\n{`,
    ]
    const cut = Promise.all(Array.from({ length: 40 }, (_, i) => send(slow[i % 2] as string, 13_000)))
    const tookMs: number[] = []
    for (let i = 0; i < 10; i++) {
      const begun = performance.now()
      expect((await rig.tenant.api.get('me')).status).toBe(200)
      tookMs.push(performance.now() - begun)
      await pause(100)
    }
    expect(tookMs.sort((a, b) => a - b)[5]).toBeLessThan(promptMs)
    for (const wire of await cut) {
      expect(wire.closed).toBe(true)
      expect(wire.tookMs).toBeLessThan(12_000)
      expect(wire.text).toMatch(/^(HTTP\/1\.1 408|$)/)
    }
  })
})
