// The route `/graphql`: queries and mutations, and streams for requests that ask for one.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { piecesBudget } from '../core/graph/budget.ts'
import type { Graph, GraphqlParams } from '../core/graph/graph.ts'
import { scopeOf } from '../core/graph/scope.ts'
import { sendFailure, sendResult } from '../core/http/graphql-answer.ts'
import { paramsOf, readGraphqlBodies } from '../core/http/graphql-request.ts'
import { idempotencyOf } from '../core/idempotency/idempotency.ts'
import type { Streams } from '../events/live/streams.ts'
import type { Explore } from '../pages/pages.ts'
import type { Authenticator, Caller, Need } from './authenticate.ts'
import { methods } from './create.ts'
import { accessOfRequest, everyAccess } from './key-access.ts'

export interface GraphqlOptions {
  graph: Graph
  authenticator: Authenticator
  streams: Pick<Streams, 'isStreamRequest' | 'handleStream'>
  explore: Explore
}

/** Longest body of a GraphQL request, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024

/** Mounts `/graphql`. */
export function mountGraphql(http: FastifyInstance, app: App, { graph, authenticator, streams, explore }: GraphqlOptions): void {
  const callers = new WeakMap<FastifyRequest, Caller>()

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { params, fault } = readParams(request)
    const caller = callers.get(request) as Caller
    const open = () => caller.authorize(needOf(params))
    if (streams.isStreamRequest(request)) return await streams.handleStream(request, reply, open)
    const context = await open()
    if (!params) throw fault
    const idempotency = request.method === 'POST' ? idempotencyOf(request, request.fingerprint) : null
    const result = await graph.run(params, { ...context, response: reply.raw, idempotency }, piecesBudget)
    if (idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
    return await sendResult(request, reply, result)
  }

  function needOf(params: GraphqlParams | undefined): Need {
    if (!params) return { scope: 'workspace', access: everyAccess }
    return { scope: scopeOf(graph.schema, params), access: accessOfRequest(params) }
  }

  http.register(async (scope) => {
    readGraphqlBodies(scope)
    scope.setErrorHandler((error, request, reply) => sendFailure(app, error, request, reply))
    scope.route({
      method: methods,
      url: '/graphql',
      bodyLimit: maxBodyBytes,
      config: { values: 'campaign' },
      // The caller is identified before the body is read. Authorization depends on the body.
      onRequest: async (request, reply) => {
        const page = explore(request, reply)
        if (page) return await page
        if (request.method !== 'GET' && request.method !== 'POST') fail('METHOD_NOT_ALLOWED')
        callers.set(request, await authenticator.identify(request, reply))
      },
      handler: answer,
    })
  })
}

/** Returns the parameters of a request, or the fault of a malformed one, which is reported once the caller is authorized. */
function readParams(
  request: FastifyRequest,
): { params: GraphqlParams; fault?: undefined } | { params?: undefined; fault: unknown } {
  try {
    return { params: paramsOf(request) }
  } catch (fault) {
    return { fault }
  }
}
