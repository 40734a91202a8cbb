// GraphQL over SSE, many operations on one connection ("single connection" mode of graphql-sse).
// A reservation lives in the process that issued it: behind a load balancer, requests with one token need sticky routing to one
// process.
import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse'
import { fail } from '../../core/errors.ts'
import { paramsOf } from '../../core/http/graphql-request.ts'
import { prefersStream } from '../log/accept.ts'
import type { BoundedWriter, Ending, Holder } from './bounded-writer.ts'
import type { Followed } from './fanout.ts'
import { heartbeat, hello, retryLine, revoked, singleComplete, singleFrame, singleResult } from './frames.ts'
import type { Prepared } from './operation.ts'
import { repeatable } from './request.ts'
import type { Streaming } from './streaming.ts'

interface Reservation {
  holder: Holder
  writer: BoundedWriter
  /** Ends a reservation that no client connects to; undefined once a client is connected. */
  expiry: NodeJS.Timeout | undefined
  /** Functions that stop an operation, by operation id. */
  operations: Map<string, () => void>
}

const reservedMs = 60_000
/** Every event of the operation carries its id, so the length is bounded. */
const maxIdLength = 256

export interface SingleMode {
  /** True if a request needs no credential except the token of a reservation. */
  takesToken: (request: FastifyRequest) => boolean
  /** @throws NOT_FOUND when the token belongs to no reservation. */
  requireToken: (request: FastifyRequest) => void
  reserve: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  connect: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  operate: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  complete: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
}

/** Compares the team too: one session may be used in several teams. */
function isHeldBy({ holder }: Reservation, { credentialId, teamId }: Pick<Holder, 'credentialId' | 'teamId'>): boolean {
  return holder.credentialId === credentialId && holder.teamId === teamId
}

/** The token of a request, from its header or query string; undefined without one. */
export function tokenOf({ headers, query }: FastifyRequest): string | undefined {
  const token = headers[TOKEN_HEADER_KEY] ?? (query as Record<string, unknown>)[TOKEN_QUERY_KEY]
  return typeof token === 'string' && token !== '' ? token : undefined
}

export function createSingleMode(streaming: Streaming): SingleMode {
  const { hub, openContext, prepare } = streaming
  const reservations = new Map<string, Reservation>()

  function reservationOf(request: FastifyRequest): Reservation {
    return reservations.get(tokenOf(request) ?? '') ?? fail('NOT_FOUND', 'Stream not found')
  }

  /** PUT: answers with a token. It is valid for one connection, opened within 60 s, and for operations of the same credential. */
  async function reserve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const holder = (await openContext(request, reply)).principal
    const leavePlace = hub.takePlace(holder, 'connection')
    const token = randomBytes(32).toString('base64url')
    const operations: Reservation['operations'] = new Map()
    const writer = hub.makeWriter({
      holder,
      heartbeat,
      farewell: (ending) => farewell(ending, [...operations.keys()]),
      closed() {
        clearTimeout(reservation.expiry)
        reservations.delete(token)
        for (const stop of [...operations.values()]) stop()
        leavePlace()
      },
    })
    const reservation: Reservation = { holder, writer, expiry: setTimeout(() => writer.end(), reservedMs), operations }
    reservations.set(token, reservation)
    return await reply.code(201).type('text/plain; charset=utf-8').send(token)
  }

  /** GET or POST for an event stream. The token alone authenticates it, because an EventSource cannot send a key. */
  function connect(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const reservation = reservationOf(request)
    if (!reservation.expiry) fail('CONFLICT', 'Stream already open')
    clearTimeout(reservation.expiry)
    reservation.expiry = undefined
    reply.hijack()
    reservation.writer.attach(reply.raw, reply.getHeaders() as OutgoingHttpHeaders, hello())
    return reply
  }

  /** GET or POST of an operation, answered with 202. The results go to the connection. */
  async function operate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const caller = await openContext(request, reply)
    const reservation = reservationOf(request)
    const { holder, writer, operations } = reservation
    if (!isHeldBy(reservation, caller.principal)) fail('NOT_FOUND', 'Stream not found')
    const params = paramsOf(request)
    const sent = Object.assign(new EventEmitter(), { destroyed: false, closed: false })
    const context = { ...repeatable(caller, request, params), response: sent }
    const id = params.extensions?.operationId
    if (typeof id !== 'string' || id === '') fail('VALIDATION_ERROR', 'extensions.operationId: is required')
    if (id.length > maxIdLength) fail('VALIDATION_ERROR', `extensions.operationId: must have at most ${maxIdLength} characters`)
    if (operations.has(id)) fail('CONFLICT', 'Operation with ID already exists')
    let followed: Followed | undefined
    const leavePlace = hub.takePlace(holder, 'operation')
    const stop = () => {
      operations.delete(id)
      followed?.stop()
      leavePlace()
      sent.closed = true
      sent.emit('close')
    }
    operations.set(id, stop)
    try {
      const prepared = await prepare(params, context)
      if (context.idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
      if (prepared.kind === 'refused') {
        stop()
        return await reply.code(400).send(prepared.result)
      }
      // The operation may have been completed by a DELETE meanwhile.
      if (operations.get(id) !== stop) return await reply.code(204).send()
      if (prepared.kind === 'result') void tell(writer, singleResult(id, prepared.result)).then(stop)
      else followed = await follow(writer, id, prepared, stop)
    } catch (error) {
      stop()
      throw error
    }
    if (operations.get(id) !== stop) followed?.stop()
    return await reply.code(202).send()
  }

  async function follow(
    writer: BoundedWriter,
    id: string,
    prepared: Exclude<Prepared, { result: unknown }>,
    stop: () => void,
  ): Promise<Followed> {
    const frame = singleFrame(id)
    if (prepared.kind === 'log') {
      const { after, sent } = prepared.start
      return await hub.followLog(prepared.view, { writer, frame, cursor: after, sent })
    }
    const ended = () => void tell(writer, singleComplete(id)).then(stop)
    return hub.followState(prepared.view, { writer, frame, ended })
  }

  /** DELETE: ends one operation. */
  function complete(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { operations } = reservationOf(request)
    const id = (request.query as Record<string, unknown>).operationId
    if (typeof id !== 'string' || id === '') fail('VALIDATION_ERROR', 'operationId: is required')
    operations.get(id)?.()
    return reply.code(200).send()
  }

  return {
    takesToken: (request) =>
      request.method === 'DELETE' || (prefersStream(request.headers.accept) && tokenOf(request) !== undefined),
    requireToken: reservationOf,
    reserve,
    connect,
    operate,
    complete,
  }
}

/** Writes once the connection is open and has capacity. Resolves when the text has left this process. */
async function tell(writer: BoundedWriter, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  while (!writer.closed && !writer.fits(1, bytes.length)) await writer.drained()
  writer.write(bytes, 1)
  await writer.drained()
}

function farewell(ending: Ending, operationIds: readonly string[]): string {
  if (ending === 'revoked') return operationIds.map((id) => singleResult(id, revoked)).join('')
  return `${retryLine()}\n${operationIds.map(singleComplete).join('')}`
}
