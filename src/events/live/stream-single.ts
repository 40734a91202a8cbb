// GraphQL over SSE, many operations on one connection ("single connection" mode of graphql-sse), whichever process a request reaches.
// The process that a client connects to holds the connection. The others hand it their requests (node-calls.ts).
import { createHash, randomBytes } from 'node:crypto'
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { TOKEN_HEADER_KEY, TOKEN_QUERY_KEY } from 'graphql-sse'
import { fail } from '../../core/errors.ts'
import { paramsOf } from '../../core/http/graphql-request.ts'
import { deleteConnection, insertConnection, nodeOf, openConnection, renewConnections } from './connections.sql.ts'
import { type Accepted, type Asked, type Connection, type Connections, createConnections } from './connections.ts'
import { hello } from './frames.ts'
import { withIdempotency } from './idempotency.ts'
import { createNodeCalls, type NodeCalls } from './node-calls.ts'
import { prefersStream } from './prefers-stream.ts'
import type { Streaming } from './streaming.ts'

/** A call of a process to the one that holds a connection. `name` is the digest of the token, in hex. */
type Call =
  | { kind: 'operate'; name: string; asked: Asked }
  | { kind: 'complete'; name: string; id: string }
  | { kind: 'handOver'; name: string }

/** Every event of the operation carries its id, so the length is bounded. */
const maxIdLength = 256
const renewMs = 20_000
/** A call about a connection that moves to another process meanwhile is made again. */
const mostTries = 3

export interface SingleMode extends AsyncDisposable {
  /** True if a request needs no credential except the token of a connection. */
  takesToken: (request: FastifyRequest) => boolean
  /** @throws NOT_FOUND when the token belongs to no connection. */
  requireToken: (request: FastifyRequest) => Promise<void>
  reserve: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  connect: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  operate: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  complete: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
  /** Takes what other processes send to this one. */
  receive: NodeCalls['receive']
}

/** The token of a request, from its header or query string; undefined without one. */
export function tokenOf({ headers, query }: FastifyRequest): string | undefined {
  const token = headers[TOKEN_HEADER_KEY] ?? (query as Record<string, unknown>)[TOKEN_QUERY_KEY]
  return typeof token === 'string' && token !== '' ? token : undefined
}

export function createSingleMode(streaming: Streaming): SingleMode {
  const { app, openContext } = streaming
  const connections: Connections = createConnections(streaming, forget)
  const calls = createNodeCalls(app, (call) => carryOut(call as Call))
  /** Connections on their way from another process to this one. */
  const arriving = new Map<string, Promise<{ connection: Connection }>>()
  const forgetting = new Set<Promise<void>>()
  const renewal = setInterval(() => {
    if (connections.count === 0) return
    renewConnections(app.pool, app.node).catch((error: Error) =>
      app.log.warn({ err: error.message }, 'the connections of live streams could not be renewed; trying again'),
    )
  }, renewMs).unref()

  /** A failure leaves a row that another process deletes later. */
  function forget(name: string): void {
    const work = deleteConnection(app.pool, digestOf(name), app.node)
      .catch(() => {})
      .finally(() => forgetting.delete(work))
    forgetting.add(work)
  }

  async function holderOf(name: string): Promise<string> {
    return (await nodeOf(app.pool, digestOf(name))) ?? fail('NOT_FOUND', 'Stream not found')
  }

  /** PUT: answers with a token. It is valid for one connection, opened within 60 s, and for operations of the same credential. */
  async function reserve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const owner = (await openContext(request, reply)).principal
    const token = randomBytes(32).toString('base64url')
    const name = nameOf(token)
    const { writer } = connections.reserve(name, owner)
    await insertConnection(app.pool, digestOf(name), app.node).catch((error) => {
      writer.end()
      throw error
    })
    return await reply.code(201).type('text/plain; charset=utf-8').send(token)
  }

  /** GET or POST for an event stream. The token alone authenticates it, because an EventSource cannot send a key. */
  async function connect(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const name = nameOf(tokenOf(request))
    const before = await openConnection(app.pool, digestOf(name), app.node)
    if (!before) {
      await holderOf(name)
      fail('CONFLICT', 'Stream already open')
    }
    const { connection, operations } = before === app.node ? here(name) : await fetchFrom(before, name)
    clearTimeout(connection.expiry)
    connection.expiry = undefined
    reply.hijack()
    connection.writer.attach(reply.raw, reply.getHeaders() as OutgoingHttpHeaders, hello())
    for (const begun of operations) void connections.resume(connection, begun)
    return reply
  }

  function here(name: string) {
    return { connection: connections.get(name) ?? fail('NOT_FOUND', 'Stream not found'), operations: [] }
  }

  /** Takes over a connection that no client has opened yet. */
  async function fetchFrom(node: string, name: string) {
    const asking = calls.call(node, { kind: 'handOver', name } satisfies Call) as ReturnType<Connections['handOver']>
    const coming = asking.then((found) => {
      const { holder: owner, operations } = found ?? fail('NOT_FOUND', 'Stream not found')
      return { connection: connections.reserve(name, owner), operations }
    })
    // This promise and none derived from it: a rejection that nobody waits for ends the process.
    arriving.set(name, coming)
    try {
      return await coming
    } catch (error) {
      forget(name)
      throw error
    } finally {
      arriving.delete(name)
    }
  }

  /** GET or POST of an operation, answered with 202. The results go to the connection. */
  async function operate(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const caller = await openContext(request, reply)
    const name = nameOf(tokenOf(request))
    if (!connections.get(name)) await holderOf(name)
    const params = paramsOf(request)
    const { principal, limits, features, requestId, idempotency } = withIdempotency(caller, request, params)
    const id = params.extensions?.operationId
    if (typeof id !== 'string' || id === '') fail('VALIDATION_ERROR', 'extensions.operationId: is required')
    if (id.length > maxIdLength) fail('VALIDATION_ERROR', `extensions.operationId: must have at most ${maxIdLength} characters`)
    const asked = { id, caller: { principal, limits, features, requestId, idempotency }, params }
    const { status, result, replayed } = (await ask({ kind: 'operate', name, asked })) as Accepted
    if (replayed) reply.header('Idempotency-Replayed', 'true')
    return await reply.code(status).send(result)
  }

  /** DELETE: ends one operation. */
  async function complete(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const id = (request.query as Record<string, unknown>).operationId
    if (typeof id !== 'string' || id === '') fail('VALIDATION_ERROR', 'operationId: is required')
    await ask({ kind: 'complete', name: nameOf(tokenOf(request)), id })
    return await reply.code(200).send()
  }

  /** Lets the process that holds the connection carry out a call. @throws NOT_FOUND when there is none. */
  async function ask(call: Call): Promise<unknown> {
    for (let tries = 0; tries < mostTries; tries++) {
      const local = await carryOut(call)
      if (local) return local
      const node = await holderOf(call.name)
      const answer = node === app.node ? null : await calls.call(node, call)
      if (answer) return answer
    }
    return fail('NOT_FOUND', 'Stream not found')
  }

  /** Carries out a call about a connection of this process; null if it is not here. */
  async function carryOut(call: Call): Promise<object | null> {
    if (call.kind === 'handOver') return await connections.handOver(call.name)
    const connection = connections.get(call.name) ?? (await arriving.get(call.name)?.catch(() => undefined))?.connection
    if (!connection) return null
    if (call.kind === 'operate') return await connections.operate(connection, call.asked)
    connections.complete(connection, call.id)
    return {}
  }

  return {
    takesToken: (request) =>
      request.method === 'DELETE' || (prefersStream(request.headers.accept) && tokenOf(request) !== undefined),
    async requireToken(request) {
      const name = nameOf(tokenOf(request))
      if (!connections.get(name)) await holderOf(name)
    },
    reserve,
    connect,
    operate,
    complete,
    receive: calls.receive,
    async [Symbol.asyncDispose]() {
      clearInterval(renewal)
      await Promise.all(forgetting)
    },
  }
}

function nameOf(token: string | undefined): string {
  return createHash('sha256')
    .update(token ?? '')
    .digest('hex')
}

function digestOf(name: string): Buffer {
  return Buffer.from(name, 'hex')
}
