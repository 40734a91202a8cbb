// Reads JSON request bodies: parses them incrementally, large ones in turns of the event loop and under memory backpressure.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import { fingerprinting } from '../idempotency/idempotency.ts'
import { networkOf } from '../network/network.ts'
import { createShare } from '../share.ts'
import { ownTurn } from '../turns.ts'
import { refuseCutOff } from './connection.ts'
import { jsonType, maxValues, openJson } from './json.ts'
import { pieceBytes } from './json-pieces.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Limit on the values of a body of this route; by default `ordinary`. */
    values?: keyof typeof maxValues
  }
  interface FastifyRequest {
    /** Id of the authenticated caller; null for anonymous requests. */
    caller: string | null
    /** Fingerprint of the body for its `Idempotency-Key`; null without a key or a body. */
    fingerprint: Buffer | null
  }
}

/**
 * A longer body waits for a turn of the event loop before each block. 16 KiB hold 2,000 items, which take at most 20 ms to parse
 * and to validate.
 */
const longBytes = 16 * 1024

const mebi = 1024 * 1024
/**
 * Upper bound of the memory for one byte of a body: an empty list has three bytes and takes 35 once it is parsed. The number of
 * values that a route allows is a second bound, at `bytesPerValue` each.
 */
const bytesPerByte = 12
const bytesPerValue = 8
/** Smaller requests skip the queue. */
const lightBytes = 0.75 * mebi
/** A request waits at most half of the time in which it has to arrive. */
const waits = { lightBytes, mostWaiting: 100, waitMs: 5_000 } as const
/** The largest bodies of one caller are read one at a time. */
const ofCallers = createShare({ ...waits, perCaller: 32 * mebi, total: 128 * mebi })
/** For requests without a credential, such as those that networks sign: they take nothing from callers that have one. */
const ofAnybody = createShare({ ...waits, perCaller: 16 * mebi, total: 32 * mebi })

/**
 * External memory pressure: a buffer of the body's weight, never written to, so no physical memory backs it. V8 counts it and
 * collects garbage earlier. Without it, 24 bodies of 16 MiB left 470 MB of garbage before the first collection.
 */
const pressure = new WeakMap<FastifyRequest, Buffer>()
const pressureFrom = 8 * mebi

export type ReadBody = (request: FastifyRequest, payload: Readable) => Promise<unknown>

/** Makes `read` the body parser of a scope's routes. Large bodies wait for memory before their first byte is read. */
export function readBodies(scope: FastifyInstance, read: ReadBody): void {
  scope.removeAllContentTypeParsers()
  scope.decorateRequest('fingerprint', null)
  scope.addContentTypeParser('*', (request: FastifyRequest, payload: Readable) => read(request, payload))
  scope.addHook('preParsing', async (request, reply, payload) => {
    const weight = weightOf(request)
    if (weight <= lightBytes) return payload
    const { caller, ip } = request
    const reservation = await (caller
      ? ofCallers.take(caller, weight, reply.raw)
      : ofAnybody.take(networkOf(ip), weight, reply.raw))
    reservation.keepUntilSent(weight)
    if (weight > pressureFrom) pressure.set(request, Buffer.allocUnsafeSlow(weight))
    return payload
  })
}

/** Upper bound of the memory for a body, from its declared length, or from its route's limit if it is chunked. */
function weightOf({ headers, routeOptions: { bodyLimit, config } }: FastifyRequest): number {
  const declared = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyLimit
  const bytes = Math.min(declared, bodyLimit)
  return Math.min(bytes * bytesPerByte, bytes + maxValues[config.values ?? 'ordinary'] * bytesPerValue)
}

/**
 * Parses a JSON body within the limits of its route; undefined for an empty one. The rest of a refused body stays unread.
 * @throws UNSUPPORTED_MEDIA_TYPE when it is compressed or not JSON by its type; PAYLOAD_TOO_LARGE when it exceeds the limit of
 * its route; VALIDATION_ERROR when it is malformed, holds too many values or ends early.
 */
export async function readBody(request: FastifyRequest, payload: Readable): Promise<unknown> {
  const { headers, routeOptions } = request
  if (!jsonType.test(headers['content-type'] ?? '')) fail('UNSUPPORTED_MEDIA_TYPE')
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    fail('UNSUPPORTED_MEDIA_TYPE', 'The body must not be compressed')
  const hash = headers['idempotency-key'] === undefined ? null : fingerprinting(request)
  const json = openJson({ values: routeOptions.config.values })
  let bytes = 0
  for await (const block of blocksOf(request, payload)) {
    bytes += block.length
    hash?.update(block)
    if (bytes > longBytes) await ownTurn()
    json.write(block)
  }
  if (hash) request.fingerprint = hash.digest()
  return bytes === 0 ? undefined : json.end()
}

/**
 * Reads a body of any type as the bytes that were sent, for routes that verify a signature. @throws PAYLOAD_TOO_LARGE when it exceeds
 * the limit of its route; VALIDATION_ERROR when it ends early.
 */
export async function readBytes(request: FastifyRequest, payload: Readable): Promise<Buffer> {
  const blocks: Buffer[] = []
  for await (const block of blocksOf(request, payload)) blocks.push(block)
  return Buffer.concat(blocks)
}

/** The blocks of a body. @throws PAYLOAD_TOO_LARGE when it exceeds the limit of its route; the rest stays unread. */
function blocksOf({ raw, headers, routeOptions }: FastifyRequest, payload: Readable): Iterable<Buffer> | AsyncIterable<Buffer> {
  refuseCutOff(raw)
  const limit = routeOptions.bodyLimit
  if (Number(headers['content-length']) > limit) fail('PAYLOAD_TOO_LARGE')
  // A small body has arrived by now. A bare server that reads it at once takes 13 µs for a request, and 16 µs through the iterators.
  if (!raw.complete) return boundedBlocks(payload, limit)
  const bytes: Buffer | null = payload.read()
  if (bytes === null) return []
  return bytes.length > limit ? fail('PAYLOAD_TOO_LARGE') : [bytes]
}

/** @throws PAYLOAD_TOO_LARGE when the body exceeds the limit; the rest stays unread. */
async function* boundedBlocks(payload: Readable, limit: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const block of joinedChunks(payload)) {
    bytes += block.length
    if (bytes > limit) fail('PAYLOAD_TOO_LARGE')
    yield block
  }
}

/** Groups the chunks of a stream into blocks of at least {@link pieceBytes}. @throws VALIDATION_ERROR when the connection closes early. */
async function* joinedChunks(payload: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let bytes = 0
  try {
    // Destroying the request would destroy the connection that carries the response.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes < pieceBytes) continue
      yield Buffer.concat(chunks)
      chunks = []
      bytes = 0
    }
  } catch {
    // The client closed the connection, which is not an internal error to log.
    fail('VALIDATION_ERROR', 'body: ended before its last byte')
  }
  if (bytes > 0) yield Buffer.concat(chunks)
}
