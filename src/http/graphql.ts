// GraphQL over HTTP: parses and authenticates requests, and answers in the format of the GraphQL specification.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import type { App } from '../core/app.ts'
import { errors, fail, retryAfterOf } from '../core/errors.ts'
import { answerText } from '../core/graph/answer.ts'
import { failureOf } from '../core/http/error-answer.ts'
import { graphqlBodyOf, readGraphqlBodies } from '../core/http/graphql-body.ts'
import { parseJson } from '../core/http/json.ts'
import { idempotencyOf } from '../core/idempotency/idempotency.ts'
import type { Streams } from '../events/live/streams.ts'
import type { Explore } from '../pages/pages.ts'
import type { Authenticator, Caller } from './authenticate.ts'
import { methods } from './create.ts'
import { executePrepared, plainType } from './graphql-prepared.ts'
import { scopeOf } from './graphql-scope.ts'
import type { Graphql } from './graphql-yoga.ts'

export interface GraphqlOptions {
  schema: GraphQLSchema
  authenticator: Authenticator
  graphql: Graphql
  streams: Pick<Streams, 'isStreamRequest' | 'handleStream'>
  explore: Explore
}

/** Longest body of a GraphQL request, in bytes. */
const maxBodyBytes = 16 * 1024 * 1024

/** Mounts `/graphql` for queries and mutations. Requests that ask for a stream are passed to `streams`. */
export function mountGraphql(
  http: FastifyInstance,
  app: App,
  { schema, authenticator, graphql, streams, explore }: GraphqlOptions,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>()

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { params, fault } = readParams(request)
    const caller = callers.get(request) as Caller
    const open = () => caller.authorize(scopeOf(schema, params ?? {}))
    if (streams.isStreamRequest(request)) return await streams.handleStream(request, reply, open)
    const gateway = { ...(await open()), response: reply.raw }
    if (fault) throw fault
    const isPost = request.method === 'POST'
    const idempotency = isPost ? idempotencyOf(request, request.fingerprint) : null
    const type = isPost ? plainType(request.headers.accept) : undefined
    const result = type ? await executePrepared(schema, graphql.documents, params, gateway, idempotency) : null
    if (result && idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
    if (result && !result.errors) return await reply.type(`${type}; charset=utf-8`).send(answerText(result, result.data))
    const address = new URL(request.url, 'http://gateway').href
    // The body is parsed, and its content type was checked. Yoga accepts fewer spellings of it.
    const headers = { ...plainHeaders(request), ...(isPost && { 'content-type': 'application/json' }) }
    const init = { method: request.method, headers }
    const response = await graphql.answer(address, init, { gateway, idempotency, params, ...(result && { result }) })
    if (idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
    // Fastify sets CORS headers and the content length itself, so Yoga's are dropped.
    for (const name of ['content-type', 'allow']) {
      const value = response.headers.get(name)
      if (value) reply.header(name, value)
    }
    return await reply.code(response.status).send(await response.text())
  }

  http.register(async (scope) => {
    readGraphqlBodies(scope)
    scope.setErrorHandler((error, request, reply) => refuse(app, error as Error, request, reply))
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

interface Params {
  query: string
  /** Must be a string for the request to run. */
  operationName?: unknown
}

/** Returns the parameters of a request, or the error of a malformed request. */
function readParams(request: FastifyRequest): { params?: Params; fault?: Error } {
  try {
    return { params: request.method === 'GET' ? readAddress(request.query) : paramsOf(graphqlBodyOf(request)) }
  } catch (error) {
    return { fault: error as Error }
  }
}

function readAddress(given: unknown): Params {
  const { query, operationName = '', variables = '', extensions = '' } = given as Record<string, unknown>
  if (typeof query !== 'string') fail('VALIDATION_ERROR', 'query: must be a string')
  for (const [name, value] of Object.entries({ operationName, variables, extensions })) {
    if (typeof value !== 'string') fail('VALIDATION_ERROR', `${name}: must be given once`)
    if (value !== '' && name !== 'operationName') parseJson(Buffer.from(value), { name })
  }
  return { query, operationName }
}

function paramsOf(value: unknown): Params {
  if (Array.isArray(value)) fail('VALIDATION_ERROR', 'body: must be a JSON object; batching is not supported')
  if (typeof value !== 'object' || value === null) fail('VALIDATION_ERROR', 'body: must be a JSON object')
  if (typeof (value as { query?: unknown }).query !== 'string') fail('VALIDATION_ERROR', 'query: must be a string')
  return value as Params
}

function plainHeaders(request: FastifyRequest): Record<string, string> {
  const { 'content-length': _, 'transfer-encoding': __, ...headers } = request.headers
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}

/** Answers errors that occur before GraphQL runs in GraphQL's format, with the HTTP status of the error. */
function refuse(app: App, error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message } = failureOf(app, error, request)
  const { status } = errors[code]
  const seconds = retryAfterOf(error)
  if (seconds !== undefined || status === 503) reply.header('Retry-After', seconds ?? 1)
  if (status === 405) reply.header('Allow', 'GET, POST')
  const accepts = request.headers.accept ?? ''
  const json = accepts.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json'
  return reply
    .code(status)
    .type(`${json}; charset=utf-8`)
    .send(JSON.stringify({ errors: [{ message, extensions: { code } }] }))
}
