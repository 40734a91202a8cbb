// The endpoints of live events: GraphQL over SSE in both modes of graphql-sse, and a plain event stream.
// Protocol, tokens, types and printing are those of graphql-sse. Its server handler is not used: it executes a subscription for each
// subscriber (22,000 deliveries/s; 240,000/s when subscribers share the bytes, `npm run bench -- fanout`), and it buffers without
// bound for a client that stops reading.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../core/app.ts'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import type { Graph } from '../../core/graph/graph.ts'
import { answerError } from '../../core/http/error-answer.ts'
import { sendFailure } from '../../core/http/graphql-answer.ts'
import { readGraphqlBodies } from '../../core/http/graphql-request.ts'
import { startHub } from './fanout.ts'
import { createPrepare } from './operation.ts'
import { prefersStream } from './prefers-stream.ts'
import { serveDistinct } from './stream-distinct.ts'
import { servePlain } from './stream-plain.ts'
import { createSingleMode, tokenOf } from './stream-single.ts'
import type { OpenContext, Streaming } from './streaming.ts'

export interface StreamsOptions {
  graph: Graph
  /** Identifies the caller by the request's headers. The function that it returns admits the caller to the workspace. */
  identify: (request: FastifyRequest, reply: FastifyReply) => Promise<() => Promise<Context>>
  /** Admits requests to the plain stream of each API surface, by path. */
  plain: Readonly<Record<string, OpenContext>>
}

export interface Streams extends AsyncDisposable {
  /** True if a request to `/graphql` wants its results as a stream. */
  isStreamRequest: (request: FastifyRequest) => boolean
  /** Answers such a request. `openContext` admits it. Its body must have been read by `readGraphqlBodies`. */
  handleStream: (request: FastifyRequest, reply: FastifyReply, openContext: OpenContext) => Promise<FastifyReply>
}

type Answer = (request: FastifyRequest, reply: FastifyReply, openContext: OpenContext) => FastifyReply | Promise<FastifyReply>

/**
 * Mounts `/graphql/stream` and the plain streams, and returns the functions that `/graphql` needs to stream. All streams end when the
 * server closes, or when the result is disposed of.
 */
export async function mountStreams(fastify: FastifyInstance, app: App, options: StreamsOptions): Promise<Streams> {
  const hub = await startHub(app, (payload) => single.receive(payload))
  const identified = new WeakMap<FastifyRequest, () => Promise<Context>>()
  const openContext: OpenContext = (request) => identified.get(request)?.() ?? fail('UNAUTHORIZED')
  const streaming: Streaming = { app, hub, openContext, prepare: createPrepare(options.graph) }
  const single = createSingleMode(streaming)

  const graphql =
    (answer: Answer) =>
    async (request: FastifyRequest, reply: FastifyReply, open = openContext) => {
      try {
        return await answer(request, reply, open)
      } catch (error) {
        if (reply.sent) throw error
        return sendFailure(app, error, request, reply)
      }
    }
  const handleStream = graphql((request, reply, openContext) => serveDistinct({ ...streaming, openContext }, request, reply))

  await fastify.register(async (scope) => {
    readGraphqlBodies(scope)
    scope.setErrorHandler((error, request, reply) => sendFailure(app, error, request, reply))
    scope.addHook('onRequest', async (request, reply) => {
      // The token of a connection is a credential, because an EventSource cannot send a key.
      if (single.takesToken(request)) await single.requireToken(request)
      else identified.set(request, await options.identify(request, reply))
    })
    const config = { values: 'campaign' } as const
    scope.route({ method: 'PUT', url: '/graphql/stream', config, handler: graphql(single.reserve) })
    scope.route({ method: 'DELETE', url: '/graphql/stream', config, handler: graphql(single.complete) })
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql/stream',
      config,
      handler: graphql((request, reply) => {
        if (!prefersStream(request.headers.accept)) return single.operate(request, reply)
        // Without a token, the operation has its own connection.
        return tokenOf(request) === undefined ? handleStream(request, reply) : single.connect(request, reply)
      }),
    })
  })
  for (const [path, openContext] of Object.entries(options.plain)) {
    fastify.get(path, async (request, reply) => {
      try {
        return await servePlain({ ...streaming, openContext }, request, reply)
      } catch (error) {
        if (reply.sent) throw error
        return answerError(app, error as Error, request, reply)
      }
    })
  }
  async function close(): Promise<void> {
    await hub[Symbol.asyncDispose]()
    await single[Symbol.asyncDispose]()
  }
  fastify.addHook('preClose', close)

  return {
    isStreamRequest: ({ method, headers }) => (method === 'GET' || method === 'POST') && prefersStream(headers.accept),
    handleStream,
    [Symbol.asyncDispose]: close,
  }
}
