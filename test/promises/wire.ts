// Sends raw bytes on a separate connection, and lists malformed requests that no HTTP client would send.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { until } from '../kit/until.ts'

export interface Wire {
  text: string
  /** True if the other side closed the connection. */
  closed: boolean
  tookMs: number
}

/**
 * Collects what is received on a separate connection, until the other side closes it, the text matches `enough`, or 30 s have
 * passed.
 */
export function send(gateway: { url: string }, bytes: string | Buffer, enough?: RegExp): Promise<Wire> {
  return exchange(gateway, bytes, () => enough)
}

/** As {@link send}: sends `first`, and then `second` once the answer matches `between`. */
export function sendInParts(gateway: { url: string }, [first, second]: [string, string], between: RegExp): Promise<Wire> {
  let sent = false
  return exchange(gateway, first, (answered, socket) => {
    if (!sent && between.test(answered)) {
      sent = true
      socket.write(second)
    }
    return undefined
  })
}

type Enough = (answered: string, socket: Socket) => RegExp | undefined

function exchange(gateway: { url: string }, bytes: string | Buffer, enough: Enough): Promise<Wire> {
  const { hostname, port } = new URL(gateway.url)
  const begun = performance.now()
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let answered = ''
    const end = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text: answered, closed, tookMs: performance.now() - begun })
    }
    const timer = setTimeout(() => end(false), 30_000)
    socket.on('data', (chunk) => {
      answered += chunk.toString('latin1')
      if (enough(answered, socket)?.test(answered)) end(false)
    })
    socket.on('error', () => end(true))
    socket.on('close', () => end(true))
  })
}

/** Sends bytes on a connection whose half the client does not close. Resolves once the other side has closed all of it. */
export async function keepOpen(gateway: { url: string }, bytes: string): Promise<void> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {})
  try {
    socket.resume().write(bytes)
    // A closed connection answers a write with a reset.
    await until(() => {
      if (socket.readableEnded) socket.write('x')
      return socket.destroyed
    })
  } finally {
    socket.destroy()
  }
}

/** Sends bytes, and resets the connection once something is received. */
export async function sendAndReset(gateway: { url: string }, bytes: string): Promise<void> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  await once(socket, 'data')
  socket.resetAndDestroy()
}

/** The head of a request to send a message, without the blank line at its end. */
export const postHead = 'POST /api/v1/messages/send HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

/** The head of a chunked request to a route that reads the body of unauthenticated callers. */
const chunkedHead = `${postHead.replace('/api/v1/messages/send', '/api/auth/login')}Transfer-Encoding: chunked\r\n\r\n`

/** Each: a name, the bytes to send, and the status of the single answer before the connection is closed. */
export const wireAttacks: [name: string, bytes: string, status: number][] = [
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
    `${postHead}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n`,
    400,
  ],
  ['two lengths', `${postHead}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, 400],
  ['a negative length', `${postHead}Content-Length: -5\r\n\r\n`, 400],
  ['an unknown transfer encoding', `${postHead}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
  ['no host', 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['CONNECT', 'CONNECT /api/v1/messages HTTP/1.1\r\nHost: x\r\n\r\n', 405],
  ['a header with a lone carriage return', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\rX-B: b\r\n\r\n', 400],
  ['a header with NUL', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n', 400],
  ['two equal lengths', `${postHead}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`, 400],
  ['a list of lengths', `${postHead}Content-Length: 2, 2\r\n\r\n{}`, 400],
  ['a length with a sign', `${postHead}Content-Length: +2\r\n\r\n{}`, 400],
  ['a length beyond 64 bits', `${postHead}Content-Length: 18446744073709551618\r\n\r\n{}`, 400],
  ['a length before a blank and its colon', `${postHead}Content-Length : 2\r\n\r\n{}`, 400],
  ['chunks, then identity', `${postHead}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, 400],
  ['chunks twice', `${postHead}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n`, 400],
  ['chunks after a vertical tab', `${postHead}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`, 400],
  ['chunks in a folded header', `${postHead}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`, 400],
  ['chunks in HTTP/1.0', `${chunkedHead.replace('1.1', '1.0')}2\r\n{}\r\n0\r\n\r\n`, 400],
  ['chunks that end in bare line feeds', `${chunkedHead}2\n{}\n0\n\n`, 400],
  ['a chunk beyond 64 bits', `${chunkedHead}fffffffffffffffff\r\n{}\r\n0\r\n\r\n`, 400],
  ['a negative chunk', `${chunkedHead}-2\r\n{}\r\n0\r\n\r\n`, 400],
  ['a chunk that is longer than it says', `${chunkedHead}2\r\n{}x\r\n0\r\n\r\n`, 400],
  ['a chunk extension of 1 MB', `${chunkedHead}2;${'a'.repeat(1_000_000)}`, 400],
  ['trailers of 1 MB', `${chunkedHead}2\r\n{}\r\n0\r\n${'X-A: aaaaaaaaaaaaa\r\n'.repeat(50_000)}\r\n`, 431],
  ['two hosts', 'GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  ['HTTP/0.9', 'GET /livez\r\n\r\n', 400],
  ["HTTP/2's preface", 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['a folded header', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\r\n X-B: b\r\n\r\n', 400],
]
