// Mounts the rows on a surface: admits, reads the request, runs the row's operation, puts the answer in the envelope.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode, ExecutionResult } from 'graphql'
import type { z } from 'zod'
import { codeOf, fail, failure } from '../src/core/errors.ts'
import type { ApiSource } from './openapi/document.ts'
import { serveDocument } from './openapi/serve.ts'
import type { FileRoute, Route, RouteRequest, Surface } from './route.ts'
import { routes } from './routes.ts'

/** A repeated request, as the `Idempotency-Key` header promises it. */
export interface Repeatable {
  key: string
  fingerprint: Buffer
  replayed: boolean
}

/** What the rows need of the gateway; the server hands it in. */
export interface RestGateway<Context> {
  prefix: string
  surface: Surface
  /** What the document at `openapi.json` is made from. */
  api: ApiSource
  /** Who is asking, and whether they may ask this. Sets the rate headers. @throws a failure of admission. */
  admit: (
    request: FastifyRequest,
    reply: FastifyReply,
    route: Pick<Route, 'scope'> & Partial<Pick<Route, 'document' | 'ofTeam'>>,
  ) => Promise<Context>
  /** What the request's `Idempotency-Key` promises, null without one. @throws VALIDATION_ERROR. */
  repeatable: (request: FastifyRequest) => Repeatable | null
  execute: (operation: {
    document: DocumentNode
    variables: Record<string, unknown>
    context: Context
    repeatable: Repeatable | null
  }) => Promise<ExecutionResult>
  /** The JSON text of an answer that was made of what `execute` gave as `data`; a large one comes in pieces. */
  textOf: (answer: unknown, data: unknown) => string | Readable
  /** Keeps a refusal that came before the operation; answers the error to give, which may be an earlier one. */
  keep: (error: Error, context: Context, repeatable: Repeatable | null) => Promise<Error>
  /** What answers the rows about files; the request's body is unread. */
  files: Record<FileRoute['transfer'], (request: FastifyRequest, reply: FastifyReply, context: Context) => Promise<FastifyReply>>
  /** A body without what its input does not know. */
  stripFields: (input: string, body: unknown) => unknown
  /** @throws VALIDATION_ERROR naming the fields. */
  parse: <Schema extends z.ZodType>(schema: Schema, value: unknown) => z.output<Schema>
}

/** Registers the surface's rows; answers which methods each path takes. */
export function mountRest<Context>(http: FastifyInstance, gateway: RestGateway<Context>): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>()
  const admitted = new WeakMap<FastifyRequest, Context>()
  serveDocument(http, `${gateway.prefix}/openapi.json`, gateway.api, gateway.surface)
  taken.set(`${gateway.prefix}/openapi.json`, new Set(['GET']))
  for (const route of routes.filter(({ surfaces }) => surfaces.includes(gateway.surface))) {
    const url = gateway.prefix + route.path
    taken.set(url, (taken.get(url) ?? new Set()).add(route.method))
    // Before the body is read, so that nobody unknown makes us read one.
    const onRequest = async (request: FastifyRequest, reply: FastifyReply) => {
      admitted.set(request, await gateway.admit(request, reply, route))
      if ('refuse' in route) fail(route.refuse)
    }
    const contextOf = (request: FastifyRequest) => admitted.get(request) as Context
    if ('transfer' in route) {
      const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
      for (const method of methods) taken.get(url)?.add(method)
      http.register(async (scope) => {
        // The door reads the body itself, as it comes.
        scope.removeAllContentTypeParsers()
        scope.addContentTypeParser('*', (_, __, done) => done(null))
        const handler = (request: FastifyRequest, reply: FastifyReply) =>
          gateway.files[route.transfer](request, reply, contextOf(request))
        scope.route({ method: methods, url, onRequest, handler })
      })
      continue
    }
    http.route({
      method: route.method,
      url,
      bodyLimit: 'bodyLimit' in route ? route.bodyLimit : undefined,
      config: { values: 'values' in route ? route.values : undefined },
      onRequest,
      handler: (request, reply) => answer(gateway, route as Route, contextOf(request), request, reply),
    })
  }
  return taken
}

async function answer<Context>(
  gateway: RestGateway<Context>,
  route: Route,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const repeatable = route.method === 'POST' ? gateway.repeatable(request) : null
  const { data, query, error } = await perform(gateway, route, context, request, repeatable)
  if (repeatable?.replayed) reply.header('Idempotency-Replayed', 'true')
  if (error) throw error
  return reply
    .code(route.accepted?.when(data as never) ? 202 : route.status)
    .type('application/json; charset=utf-8')
    .send(gateway.textOf({ data: route.project(data as never, query as never) }, data))
}

async function perform<Context>(
  gateway: RestGateway<Context>,
  route: Route,
  context: Context,
  request: FastifyRequest,
  repeatable: Repeatable | null,
): Promise<{ data?: unknown; query?: unknown; error?: Error }> {
  let query: Record<string, unknown>
  let variables: Record<string, unknown>
  try {
    query = route.query ? gateway.parse(route.query, request.query) : {}
    variables = route.variables({ params: request.params, query, body: bodyOf(gateway, route, request) } as RouteRequest)
  } catch (error) {
    return { error: await gateway.keep(error as Error, context, repeatable) }
  }
  const result = await gateway.execute({ document: route.document, variables, context, repeatable })
  const error = result.errors?.[0]
  return error ? { error: renamed(error, route) } : { data: result.data, query }
}

function bodyOf<Context>(gateway: RestGateway<Context>, route: Route, request: FastifyRequest): Record<string, unknown> {
  const { body } = request
  if (!route.input || (route.optionalBody && body === undefined)) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body)) fail('VALIDATION_ERROR', 'body: must be a JSON object')
  // The header is REST's way to say it; a field of that name is one more that is not known.
  const { idempotencyKey: _, ...fields } = body as Record<string, unknown>
  return gateway.stripFields(route.input, fields) as Record<string, unknown>
}

/** Says a fault by the name that the caller wrote. */
function renamed(error: Error, { renames }: Route): Error {
  if (codeOf(error) !== 'VALIDATION_ERROR') return error
  const names: Record<string, string> = { input: 'body', ...renames }
  const message = error.message.replace(
    /(^|; )([A-Za-z]+):/g,
    (_, before: string, name: string) => `${before}${names[name] ?? name}:`,
  )
  return failure('VALIDATION_ERROR', message)
}
