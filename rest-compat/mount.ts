// Mounts the rows on a surface: admits, reads the request, runs the row's operation, puts the answer in the envelope.
import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode, ExecutionResult } from 'graphql'
import type { z } from 'zod'
import { codeOf, fail, failure } from '../src/core/errors.ts'
import type { Reach, Route, RouteRequest, Surface } from './route.ts'
import { routes } from './routes.ts'

/** A repeated request, as the `Idempotency-Key` header promises it. */
export interface Repeatable {
  key: string
  fingerprint: Buffer
  replayed: boolean
}

/** What the rows need of the gateway; the server hands it in. */
export interface RestDoor<Context> {
  prefix: string
  surface: Surface
  /** Who is asking. Sets the rate headers. @throws a failure of admission. */
  admit: (request: FastifyRequest, reply: FastifyReply, reach: Reach) => Promise<Context>
  execute: (operation: {
    document: DocumentNode
    variables: Record<string, unknown>
    context: Context
    repeatable: Repeatable | null
  }) => Promise<ExecutionResult>
  /** A body without what its input does not know. */
  prune: (input: string, body: unknown) => unknown
  /** @throws VALIDATION_ERROR naming the fields. */
  parse: <Schema extends z.ZodType>(schema: Schema, value: unknown) => z.output<Schema>
}

declare module 'fastify' {
  interface FastifyRequest {
    bytes: Buffer | null
  }
}

/** Registers the surface's rows; answers which methods each path takes. */
export function mountRest<Context>(http: FastifyInstance, door: RestDoor<Context>): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>()
  const admitted = new WeakMap<FastifyRequest, Context>()
  for (const route of routes.filter(({ surfaces }) => surfaces.includes(door.surface))) {
    const url = door.prefix + route.path
    taken.set(url, (taken.get(url) ?? new Set()).add(route.method))
    http.route({
      method: route.method,
      url,
      bodyLimit: 'bodyLimit' in route ? route.bodyLimit : undefined,
      // Before the body is read, so that nobody unknown makes us read one.
      onRequest: async (request, reply) => {
        admitted.set(request, await door.admit(request, reply, route.reach))
        if ('refuse' in route) fail(route.refuse)
      },
      handler: (request, reply) => answer(door, route as Route, admitted.get(request) as Context, request, reply),
    })
  }
  return taken
}

async function answer<Context>(
  door: RestDoor<Context>,
  route: Route,
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const repeatable = route.method === 'POST' ? repeatableOf(request) : null
  const query = route.query ? door.parse(route.query, request.query) : {}
  const variables = route.variables({ params: request.params, query, body: bodyOf(door, route, request) } as RouteRequest)
  const result = await door.execute({ document: route.document, variables, context, repeatable })
  const error = result.errors?.[0]
  if (error) throw renamed(error, route)
  if (repeatable?.replayed) reply.header('Idempotency-Replayed', 'true')
  return reply
    .code(route.status)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ data: route.project(result.data as never) }))
}

function bodyOf<Context>(door: RestDoor<Context>, route: Route, request: FastifyRequest): Record<string, unknown> {
  const { body } = request
  if (!route.input) {
    if (!route.takes || body === undefined || body === null) return {}
    return Object.fromEntries(Object.entries(body).filter(([name]) => route.takes?.includes(name)))
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) fail('VALIDATION_ERROR', 'body: must be a JSON object')
  // The header is REST's way to say it; a field of that name is one more that is not known.
  const { idempotencyKey: _, ...fields } = body as Record<string, unknown>
  return door.prune(route.input, fields) as Record<string, unknown>
}

function repeatableOf(request: FastifyRequest): Repeatable | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    fail('VALIDATION_ERROR', 'Idempotency-Key: must be 1 to 255 printable ASCII characters')
  }
  const fingerprint = createHash('sha256')
    .update(`${request.method} ${request.url}\n`)
    .update(request.bytes ?? '')
    .digest()
  return { key, fingerprint, replayed: false }
}

/** Says a fault by the name that the caller wrote. */
function renamed(error: Error, route: Route): Error {
  if (!route.renames || codeOf(error) !== 'VALIDATION_ERROR') return error
  const message = error.message.replace(
    /(^|; )([A-Za-z]+):/g,
    (_, before: string, name: string) => `${before}${route.renames?.[name] ?? name}:`,
  )
  return failure('VALIDATION_ERROR', message)
}
