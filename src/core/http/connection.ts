// What happens to a connection where Fastify has no part: requests that cannot be read, and those that take too long to come.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '../errors.ts'

/** How long a whole request may take to come, unless its route gives it more. */
export const requestTimeoutMs = 10_000

/** Connections whose request is on a clock of its own. */
const onOwnClock = new WeakSet<Socket>()

/** How long a caller who is still sending has to read the answer, before the connection is reset. */
const lingerMs = 1_000

/** The newest request of each connection, and its answer. */
const newest = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>()

/** To be called of every request as it begins. */
export function noteRequest(request: IncomingMessage, response: ServerResponse): void {
  newest.set(request.socket, { request, response })
}

/** Whether the request that has not come whole has its answer already: another would pass for that of the next request. */
function isAnswered(socket: Socket): boolean {
  const last = newest.get(socket)
  return last !== undefined && !last.request.complete && last.response.headersSent
}

/** The caller's id of its request, or a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID()
}

/** A request that is not HTTP, or comes too slowly, gets one answer and the door. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const tooLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  if (tooLate && onOwnClock.has(socket)) return
  if (isAnswered(socket)) {
    socket.destroySoon()
    return
  }
  const status = tooLarge ? '431 Request Header Fields Too Large' : tooLate ? '408 Request Timeout' : '400 Bad Request'
  const message = tooLarge
    ? 'The headers are too large'
    : tooLate
      ? 'The request did not arrive in time'
      : 'The request is not valid HTTP'
  if (socket.writable) socket.end(bareAnswer(status, null, 'VALIDATION_ERROR', message))
}

/** Ends a connection whose body comes in too many small chunks; see core/small-chunks.ts. */
export function refuseSmallChunks(socket: Socket): void {
  // One turn of the event loop would read megabytes of chunks. Closing at once would take the answer away.
  stopReading(socket)
  if (socket.writable && !isAnswered(socket))
    socket.end(bareAnswer('400 Bad Request', null, 'VALIDATION_ERROR', 'body: comes in too many small chunks'))
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** An answer where there is no reply to give it with. */
export function bareAnswer(status: string, request: IncomingMessage | null, code: ErrorCode, message: string): string {
  const body = JSON.stringify({ error: { code, message } })
  const headers = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    `X-Request-Id: ${requestIdOf(request?.headers['x-request-id'])}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status.startsWith('405') ? ['Allow: GET, POST, PUT, DELETE'] : []),
  ]
  return `${headers.join('\r\n')}\r\n\r\n${body}`
}

/** Takes nothing more from the connection (backpressure). */
function stopReading(socket: Socket): void {
  // Node's parser takes bytes from the handle itself until somebody listens to the socket; only then does a pause hold. A pause
  // of what is paused does nothing, though the parser may have begun to read again.
  socket.on('data', () => {})
  socket.resume()
  socket.pause()
}

/** A rest of a body up to this size is read and dropped, so that the connection can be used again. */
const smallRestBytes = 256 * 1024

/**
 * Lets the connection end after the answer (lingering close) where the request's body was not read and much of it may be left;
 * answers whether it will. Reading stops at once (backpressure), but the socket is destroyed a moment after the answer: a
 * reset would take the answer away from a client that is still sending.
 */
export function leaveRest(request: IncomingMessage): boolean {
  const { socket, headers } = request
  if (request.complete) return false
  const restBytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
  if (restBytes <= smallRestBytes) return false
  stopReading(socket)
  // Node calls this once an answer with `Connection: close` is written.
  socket.destroySoon = () => {
    socket.end()
    // Where the answer was given at once, Node starts to read and drop the rest after it.
    setImmediate(stopReading, socket)
    setTimeout(() => socket.destroy(), lingerMs).unref()
  }
  return true
}

export interface Patience {
  /** The least that a connection must carry, after the time that every request has. */
  bytesPerSecond: number
  /** What is waited for; more earns no more time. */
  maxBytes: number
}

/**
 * Lets a large body come over a slow line: beyond the time of every request, a second for each `bytesPerSecond` that have
 * come. Who drips bytes is cut as early as anybody.
 */
export function waitForBody(request: IncomingMessage, { bytesPerSecond, maxBytes }: Patience): void {
  const { socket } = request
  const [begun, before] = [performance.now(), socket.bytesRead]
  const leftMs = () => {
    const earnedMs = (Math.min(socket.bytesRead - before, maxBytes) / bytesPerSecond) * 1000
    return begun + requestTimeoutMs + earnedMs - performance.now()
  }
  const look = () => {
    const ms = leftMs()
    if (ms > 0) timer = setTimeout(look, ms)
    else cut(socket)
  }
  onOwnClock.add(socket)
  let timer = setTimeout(look, requestTimeoutMs)
  request.once('close', () => {
    clearTimeout(timer)
    onOwnClock.delete(socket)
  })
}

function cut(socket: Socket): void {
  onOwnClock.delete(socket)
  refuseConnection(Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  // What is under way on it ends too.
  socket.destroySoon()
}
