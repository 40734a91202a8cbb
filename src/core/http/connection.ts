// Connection handling outside of Fastify: requests that cannot be parsed, and requests and answers that move too slowly.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, errors, fail } from '../errors.ts'

/** Time in which a whole request must arrive, unless its route allows more. */
export const requestTimeoutMs = 10_000

/** The code of Node's error for a request that arrives too slowly. */
const late = 'ERR_HTTP_REQUEST_TIMEOUT'

/** The connections whose request has a deadline of its own, each with the function that ends it; see {@link waitForBody}. */
const ownDeadlines = new WeakMap<Socket, () => void>()

/** Time that a client which is still sending, or does not close, has to read the response before the connection is closed. */
const lingerMs = 1_000

/** Latest request of each connection, and its response. */
const newest = new WeakMap<Socket, { request: IncomingMessage; response: ServerResponse }>()

/** Must be called for every request when it begins. */
export function noteRequest(request: IncomingMessage, response: ServerResponse): void {
  newest.set(request.socket, { request, response })
}

/**
 * True if an incomplete request has its response already, or waits behind the response to an earlier one. Another response would be taken for
 * that of the next request, or for a part of the earlier one.
 */
function isAnswered(socket: Socket): boolean {
  const last = newest.get(socket)
  return last !== undefined && !last.request.complete && (last.response.headersSent || last.response.socket === null)
}

/**
 * Faulty bytes may follow a complete request, which is executed. Ends the connection with the response to that request, at once if its
 * headers have left. Returns false if no response is pending.
 */
function endWithResponse(socket: Socket): boolean {
  const last = newest.get(socket)
  if (!last?.request.complete || last.response.writableFinished) return false
  if (last.response.headersSent) socket.destroySoon()
  else last.response.shouldKeepAlive = false
  return true
}

/** Returns the caller's id of its request, or a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(header) ? header : randomUUID()
}

/** Answers a request that is not HTTP, or arrives too slowly, with one error response, and closes the connection. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  if (error.code === late) refuseLate(socket)
  else refuse(error.code, socket)
}

/**
 * After a stall, the event loop runs its timers before it reads its sockets. So this reads what has arrived before it refuses. Node reports a late
 * request once; if only its headers have arrived by then, {@link waitForBody} bounds the rest.
 */
function refuseLate(socket: Socket): void {
  const before = newest.get(socket)?.request
  const wasWhole = before?.complete ?? false
  if (!wasWhole && ownDeadlines.has(socket)) return
  setImmediate(() => {
    const last = newest.get(socket)?.request
    if (last !== before) {
      if (last && !last.complete && !ownDeadlines.has(socket)) waitForBody(last, { bytesPerSecond: 1, maxBytes: 0 })
    } else if (wasWhole || !last?.complete) refuse(late, socket)
  })
}

function refuse(code: string | undefined, socket: Socket): void {
  const tooLarge = code === 'HPE_HEADER_OVERFLOW'
  const tooLate = code === late
  if (endWithResponse(socket)) return
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
  closeSoon(socket)
}

/**
 * Answers a CONNECT request, which asks for a tunnel, with one error response, and closes the connection. While an earlier response is in
 * progress, only closes it.
 */
export function refuseTunnel(request: IncomingMessage, socket: Socket): void {
  // Node has removed its own listeners. An error without a listener, such as a reset by the client, would end the process.
  socket.on('error', () => {})
  const last = newest.get(socket)
  if (last && !last.response.writableFinished) socket.destroySoon()
  else socket.end(bareAnswer('405 Method Not Allowed', request, 'METHOD_NOT_ALLOWED', errors.METHOD_NOT_ALLOWED.message))
  closeSoon(socket)
}

const tooSmall = 'body: arrives in too many small chunks'
/** Requests whose connection {@link refuseSmallChunks} closes. */
const cutOff = new WeakSet<IncomingMessage>()

/** @throws VALIDATION_ERROR when {@link refuseSmallChunks} closes the connection, so that the beginning of the body is not taken for all of it. */
export function refuseCutOff(request: IncomingMessage): void {
  if (cutOff.has(request)) fail('VALIDATION_ERROR', tooSmall)
}

/** Closes a connection whose body arrives in too many small chunks; see src/http/small-chunks.ts. */
export function refuseSmallChunks(request: IncomingMessage): void {
  const { socket } = request
  cutOff.add(request)
  // Reading stops first, because one turn of the event loop would read megabytes of chunks. Closing at once would discard the response.
  stopReading(socket)
  if (socket.writable && !isAnswered(socket)) socket.end(bareAnswer('400 Bad Request', null, 'VALIDATION_ERROR', tooSmall))
  closeSoon(socket)
}

/** Closes an ended connection once its client had time to read the response. A client that keeps its half open would hold it for ever. */
function closeSoon(socket: Socket): void {
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

/** A raw HTTP response, for cases without a reply object. */
function bareAnswer(status: string, request: IncomingMessage | null, code: ErrorCode, message: string): string {
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

/** Stops reading from the connection (backpressure). */
function stopReading(socket: Socket): void {
  // Node's HTTP parser reads from the handle itself until the socket has a `data` listener; only then does a pause take effect.
  // Pausing a paused socket does nothing, even if the parser has begun to read again, so it is resumed first.
  socket.on('data', () => {})
  socket.resume()
  socket.pause()
}

/** Up to this size, the rest of a body is read and dropped, so that the connection can be used again. */
const smallRestBytes = 256 * 1024

/**
 * Lingering close: if the request's body is unread and much of it may be left, the connection ends after the response. Returns
 * true if it will. Reading stops at once (backpressure), but the socket is destroyed a moment after the response: a reset would
 * discard the response of a client that is still sending.
 */
export function leaveRest(request: IncomingMessage): boolean {
  const { socket, headers } = request
  if (request.complete) return false
  const restBytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
  if (restBytes <= smallRestBytes) return false
  stopReading(socket)
  // Node calls this once a response with `Connection: close` is written.
  socket.destroySoon = () => {
    socket.end()
    // If the response is given at once, Node starts to read and drop the rest after it.
    setImmediate(stopReading, socket)
    closeSoon(socket)
  }
  return true
}

/** Time without any progress after which the connection of an answer is closed (slow-read protection). */
const stallMs = 5_000
const longStallMs = 15_000
const slowAnswers = new WeakSet<ServerResponse>()

/** Gives an answer {@link longStallMs}: its parts come from the database or a store while the client reads. Call it before the answer is sent. */
export function allowLongStall(response: ServerResponse): void {
  slowAnswers.add(response)
}

/** Applies the time to an answer that is about to be sent. */
export function boundStall(response: ServerResponse): void {
  response.setTimeout(slowAnswers.has(response) ? longStallMs : stallMs)
}

/** How the deadline of a body moves while it arrives. */
export interface Extension {
  /** So many bytes move the deadline by one second. This is the least transfer rate once the time of every request is over. */
  bytesPerSecond: number
  /** Further bytes do not move it. */
  maxBytes: number
}

/**
 * Extends the deadline of a large body on a slow connection: one more second for each `bytesPerSecond` that have arrived. A
 * client that drips bytes (slowloris attack) is cut off as early as any other.
 */
export function waitForBody(request: IncomingMessage, { bytesPerSecond, maxBytes }: Extension): void {
  const { socket } = request
  const [begun, before] = [performance.now(), socket.bytesRead]
  const leftMs = () => {
    const extraMs = (Math.min(socket.bytesRead - before, maxBytes) / bytesPerSecond) * 1000
    return begun + requestTimeoutMs + extraMs - performance.now()
  }
  const look = () => {
    // The event loop has read its sockets since the timer ran out (see refuseLate), and the deadline may have ended.
    if (request.complete || ownDeadlines.get(socket) !== end) return
    const ms = leftMs()
    if (ms > 0) lookIn(ms)
    else cut(socket)
  }
  let timer: NodeJS.Timeout
  const lookIn = (ms: number) => {
    timer = setTimeout(() => setImmediate(look), ms)
  }
  function end(): void {
    clearTimeout(timer)
    if (ownDeadlines.get(socket) === end) ownDeadlines.delete(socket)
  }
  // A second deadline, which is extended faster, takes the place of the first one.
  ownDeadlines.get(socket)?.()
  ownDeadlines.set(socket, end)
  lookIn(requestTimeoutMs)
  request.once('close', end)
}

function cut(socket: Socket): void {
  ownDeadlines.delete(socket)
  refuse(late, socket)
  // Ends the request in progress on the connection too.
  socket.destroySoon()
}
