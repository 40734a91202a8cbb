// Mounts the REST routes of a surface: authenticates, parses the request, runs the GraphQL operation, wraps the answer.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode, ExecutionResult } from 'graphql'
import type { z } from 'zod'
import { fail } from '../src/core/errors.ts'
import { type Cell, type ExportRoute, type Run, readExport } from './export.ts'
import { renamed, withIds, withOthers } from './faults.ts'
import type { ApiSource } from './openapi/document.ts'
import { serveDocument } from './openapi/serve.ts'
import type { FileRoute, RefusedRoute, Route, RouteRequest, Surface } from './route.ts'
import { routes } from './routes.ts'

/** The state of a request with an `Idempotency-Key`. */
interface Idempotency {
  key: string
  fingerprint: Buffer
  replayed: boolean
}

/** The parts of the gateway that the routes need. The server passes them in. */
export interface RestGateway<Context> {
  prefix: string
  surface: Surface
  /** Source of the document at `openapi.json`. */
  api: ApiSource
  /** Authenticates and authorizes the caller, and sets the rate limit headers. @throws UNAUTHORIZED and others when it refuses. */
  admit: (request: FastifyRequest, reply: FastifyReply, route: Route | RefusedRoute | FileRoute | ExportRoute) => Promise<Context>
  /** The idempotency state of the request; null without an `Idempotency-Key`. @throws VALIDATION_ERROR when the key is malformed. */
  idempotencyOf: (request: FastifyRequest) => Idempotency | null
  execute: (operation: {
    document: DocumentNode
    variables: Record<string, unknown>
    context: Context
    idempotency: Idempotency | null
    /** True if the result is a part of the answer, and does not stay in memory until the answer is sent. */
    isPart?: boolean
  }) => Promise<ExecutionResult>
  /** Streams rows as a CSV file. @throws API_RATE_LIMIT_EXCEEDED when the caller has too many streams of this kind. */
  sendCsv: (
    request: FastifyRequest,
    reply: FastifyReply,
    file: { name: string; titles: readonly string[]; pages: AsyncIterable<Cell[][]> },
    context: Context,
  ) => Promise<FastifyReply>
  /** The JSON text of an answer built from `data`, the result of `execute`. A large answer is a stream. */
  textOf: (answer: unknown, data: unknown) => string | Readable
  /** Stores an error that occurred before the operation ran. Returns the error to answer with, which may be a stored earlier one. */
  keep: (error: Error, context: Context, idempotency: Idempotency | null) => Promise<Error>
  /** Handlers of the file routes. They read the request body themselves. */
  files: Record<FileRoute['transfer'], (request: FastifyRequest, reply: FastifyReply, context: Context) => Promise<FastifyReply>>
  /** Strips the fields that the input does not define. */
  stripFields: (input: string, body: unknown) => unknown
  /** The query without its empty values, except those of the parameters in `kept`. */
  withoutEmpty: (query: unknown, kept?: readonly string[]) => Record<string, unknown>
  /** @throws VALIDATION_ERROR when the value is invalid; the message names the fields. */
  parse: <Schema extends z.ZodType>(schema: Schema, value: unknown) => z.output<Schema>
}

/** A request to a route, with the context of its admission. */
interface Call<Context, Of = Route> {
  gateway: RestGateway<Context>
  route: Of
  context: Context
  request: FastifyRequest
}

/** Registers the routes of the surface. Returns the methods of each path. */
export function mountRest<Context>(http: FastifyInstance, gateway: RestGateway<Context>): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>()
  serveDocument(http, `${gateway.prefix}/openapi.json`, gateway.api, gateway.surface)
  taken.set(`${gateway.prefix}/openapi.json`, new Set(['GET']))
  for (const route of routes.filter(({ surfaces }) => surfaces.includes(gateway.surface))) {
    const url = gateway.prefix + route.path
    const methods = 'transfer' in route && route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
    taken.set(url, new Set([...(taken.get(url) ?? []), ...methods]))
    if ('transfer' in route) mountFileRoute(http, gateway, route, methods)
    else mountRoute(http, gateway, route)
  }
  return taken
}

/** Admits requests before their body is read, so that an unauthenticated client cannot make the gateway read one. */
function admission<Context, Of extends (typeof routes)[number]>(gateway: RestGateway<Context>, route: Of) {
  const admitted = new WeakMap<FastifyRequest, Context>()
  return {
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      admitted.set(request, await gateway.admit(request, reply, route))
      if ('refuse' in route) fail(route.refuse)
    },
    callOf: (request: FastifyRequest): Call<Context, Of> => ({
      gateway,
      route,
      context: admitted.get(request) as Context,
      request,
    }),
  }
}

function mountRoute<Context>(http: FastifyInstance, gateway: RestGateway<Context>, route: Route | RefusedRoute): void {
  const { onRequest, callOf } = admission(gateway, route)
  http.route({
    method: route.method,
    url: gateway.prefix + route.path,
    bodyLimit: 'bodyLimit' in route ? route.bodyLimit : undefined,
    config: { values: 'values' in route ? route.values : undefined },
    onRequest,
    // No request to a refused route comes here.
    handler: (request, reply) => answer(callOf(request) as Call<Context>, reply),
  })
}

function mountFileRoute<Context>(
  http: FastifyInstance,
  gateway: RestGateway<Context>,
  route: FileRoute | ExportRoute,
  methods: string[],
): void {
  const { onRequest, callOf } = admission(gateway, route)
  http.register(async (scope) => {
    // The handler reads the body as a stream.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_, __, done) => done(null))
    const handler = (request: FastifyRequest, reply: FastifyReply) => {
      const call = callOf(request)
      if (route.transfer === 'export') return sendExport({ ...call, route }, reply)
      return gateway.files[route.transfer](request, reply, call.context)
    }
    scope.route({ method: methods, url: gateway.prefix + route.path, onRequest, handler })
  })
}

async function sendExport<Context>(
  { gateway, route, context, request }: Call<Context, ExportRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const params = request.params as Record<string, string>
  const run: Run = (document, variables) => gateway.execute({ document, variables, context, idempotency: null, isPart: true })
  const given = gateway.withoutEmpty(request.query)
  let query: Record<string, unknown>
  try {
    query = gateway.parse(route.query, given)
  } catch (error) {
    const list = (rest: Record<string, unknown>) =>
      route.list.variables({ params, query: rest as never, page: { first: 1, after: undefined } })
    throw await withOthers(error as Error, given, route.query, async (rest) => {
      return (await run(route.list.document, list(rest))).errors ?? []
    })
  }
  const { titles, pages } = await readExport(route, { params, query }, run)
  return await gateway.sendCsv(request, reply, { name: route.file, titles, pages }, context)
}

async function answer<Context>(call: Call<Context>, reply: FastifyReply): Promise<FastifyReply> {
  const { gateway, route, request } = call
  const idempotency = route.method === 'POST' ? gateway.idempotencyOf(request) : null
  const { data, query, error } = await perform(call, idempotency)
  if (idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
  // core/http/error-answer.ts answers it, as everything that a route throws.
  if (error) throw error
  return reply
    .code(route.otherAnswer?.when(data as never) ? (route.otherAnswer.status ?? 202) : route.status)
    .type('application/json; charset=utf-8')
    .send(gateway.textOf({ data: route.project(data as never, query as never) }, data))
}

async function perform<Context>(
  call: Call<Context>,
  idempotency: Idempotency | null,
): Promise<{ data?: unknown; query?: unknown; error?: Error }> {
  const { gateway, route, context } = call
  let query: Record<string, unknown>
  let variables: Record<string, unknown>
  try {
    query = route.query ? gateway.parse(route.query, givenQuery(call)) : {}
    variables = variablesOf(call, query)
  } catch (error) {
    const whole = await nameAllFaults(call, error as Error)
    return { error: await gateway.keep(whole, context, idempotency) }
  }
  const result = await gateway.execute({ document: route.document, variables, context, idempotency })
  const error = result.errors?.[0]
  return error ? { error: renamed(error, route) } : { data: result.data, query }
}

function givenQuery<Context>({ gateway, route, request }: Call<Context>): Record<string, unknown> {
  return gateway.withoutEmpty(request.query, route.keepsEmpty)
}

function variablesOf<Context>(call: Call<Context>, query: Record<string, unknown>): Record<string, unknown> {
  return call.route.variables({ params: call.request.params, query, body: bodyOf(call) } as RouteRequest)
}

/** Adds the other faults of a request to an error about its query or body: those of the ids in its path, and of the other parameters of a list. */
async function nameAllFaults<Context>(call: Call<Context>, error: Error): Promise<Error> {
  const { gateway, route, context, request } = call
  const whole = withIds(error, route, request)
  if (route.method !== 'GET' || !route.query) return whole
  return await withOthers(whole, givenQuery(call), route.query, async (rest) => {
    const variables = variablesOf(call, rest)
    const { errors = [] } = await gateway.execute({ document: route.document, variables, context, idempotency: null })
    return errors.map((other) => renamed(other, route))
  })
}

function bodyOf<Context>({ gateway, route, request: { body } }: Call<Context>): Record<string, unknown> {
  if (!route.input || (route.optionalBody && body === undefined)) return {}
  if (typeof body !== 'object' || body === null || Array.isArray(body)) fail('VALIDATION_ERROR', 'body: must be a JSON object')
  const fields = withoutKey(body) as Record<string, unknown>
  if (Array.isArray(fields.messages)) fields.messages = fields.messages.map(withoutKey)
  return gateway.stripFields(route.input, fields) as Record<string, unknown>
}

/** The object without `idempotencyKey`, for which REST has a header. The field counts as unknown, in a body and in the messages of a bulk. */
function withoutKey(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { idempotencyKey: _, ...fields } = value as Record<string, unknown>
  return fields
}
