// Builds the OpenAPI 3.1 document of each REST surface, from the route schemas and the GraphQL descriptions.
import type { z } from 'zod'
import type { Surface } from '../route.ts'
import { routes } from '../routes.ts'
import { type EventType, streamOf, webhooksOf } from './events.ts'
import type { DemoIds } from './example.ts'
import { exampleRecords } from './example-records.ts'
import { exportOperation } from './exports.ts'
import { fileOperation } from './files.ts'
import { type IdentityRoute, identityOperation } from './identity.ts'
import { type Components, type Operation, type OperationSource, operationOf } from './operation.ts'
import { createSchemas } from './schemas.ts'
import { type SurfaceRules, surfaceRules } from './surface.ts'
import { introductions, tagNamesOf, tagOf, tagsOf } from './words.ts'
import type { Schema } from './zod.ts'

export interface ApiSource extends OperationSource {
  /** Query parameters of the event stream. */
  streamQuery: z.ZodObject
  /** The types of outgoing events, in the order of the document. */
  events: readonly EventType[]
  /** Routes for signing in, on the console surface. */
  identity: readonly IdentityRoute[]
  /** Public base URL of the API. Default: the origin of the document. */
  publicUrl?: string | undefined
}

export type OpenApiDocument = Record<string, unknown> & {
  paths: Record<string, Record<string, Operation & { tags: string[] }>>
  components: Record<'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes', Record<string, unknown>>
}

function operationFor(source: OperationSource, components: Components, route: (typeof routes)[number]): Operation {
  if (!('transfer' in route)) return operationOf(source, components, route)
  return route.transfer === 'export' ? exportOperation(source, components, route) : fileOperation(source, components, route)
}

/** Builds the whole document of a surface. The result is deterministic. */
export function describeApi(source: ApiSource, surface: Surface): OpenApiDocument {
  const rules = surfaceRules[surface]
  const components: Components = { rules, schemas: createSchemas(source.graph), responses: {} }
  // Webhook payloads are the same on both surfaces, so only one document describes them.
  const webhooks = surface === 'public' ? { webhooks: webhooksOf(components, source.events) } : {}
  const identity = surface === 'console' ? source.identity : []
  const served: Served[] = [
    ...identity.map((route): Served => [route.path, route.method, identityOperation(components, route)]),
    ...routes
      .filter(({ surfaces }) => surfaces.includes(surface))
      .map((route): Served => [route.path, route.method, operationFor(source, components, route)]),
    ['/events/stream', 'GET', streamOf(components, source.streamQuery)],
    ['/openapi.json', 'GET', thisDocument],
  ]
  return {
    openapi: '3.1.1',
    info: {
      title: rules.title,
      version: '1.0.0',
      summary: rules.summary,
      description: introductions[surface](),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${source.publicUrl ?? ''}${rules.prefix}`, description: 'This gateway.' }],
    security: rules.security,
    tags: tagsOf(surface),
    paths: pathsOf(surface, served),
    ...webhooks,
    components: {
      securitySchemes: rules.schemes(source.publicUrl),
      parameters: { 'Idempotency-Key': idempotencyKey, 'X-Team-Id': teamId(rules) },
      headers: headersOf(rules),
      schemas: sorted(withExamples(components.schemas.components, source.demo)),
      responses: sorted(components.responses),
    },
  }
}

type Served = [path: string, method: string, operation: Operation]

/** Groups paths by family, and keeps the order of the routes within each. */
function pathsOf(surface: Surface, served: readonly Served[]): OpenApiDocument['paths'] {
  const inOrder = tagNamesOf(surface).flatMap((name) => served.filter(([path]) => tagOf(surface, path) === name))
  const paths: OpenApiDocument['paths'] = {}
  for (const [path, method, operation] of inOrder) {
    const address = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[address] ??= {}
    paths[address][method.toLowerCase()] = { tags: [tagOf(surface, path)], ...operation }
  }
  return paths
}

const thisDocument: Operation = {
  operationId: 'openapi',
  summary: 'Read this document',
  description: 'Needs no credential. The document has no envelope.',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
      content: { 'application/json': { schema: { type: 'object', description: 'OpenAPI 3.1.' } } },
    },
    304: { description: 'The document still has the `ETag` of `If-None-Match`.' },
  },
  security: [],
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A repeated request with the same key within 72 hours has no further effect and returns the first response. 1 to 255 printable ASCII characters.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
}

function teamId({ teamHeader }: SurfaceRules) {
  return { name: 'X-Team-Id', in: 'header', description: teamHeader, schema: { type: 'string', format: 'uuid' } }
}

const integer = { type: 'integer', minimum: 0 }
const answerHeaders = {
  'X-Request-Id': {
    description:
      'Identifies the request in the logs: your own `X-Request-Id` of 1 to 128 characters `[A-Za-z0-9._-]`, or a new one.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'The number of requests that this key may send in any one second.', schema: integer },
  'RateLimit-Remaining': { description: 'The number of requests that are left.', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until the full number of requests is available again.', schema: integer },
  'RateLimit-Policy': {
    description: 'The limit as a policy, for example `10;w=1`: 10 requests in any window of 1 second.',
    schema: { type: 'string', pattern: '^\\d+;w=1$' },
  },
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: integer },
  'WWW-Authenticate': { description: 'Names the header or the scheme of the credential.', schema: { type: 'string' } },
  'Set-Cookie': {
    description: 'The cookie of the session, or of a sign-in that is not finished: `HttpOnly`, `SameSite=Lax`.',
    schema: { type: 'string' },
  },
  Location: { description: 'The address to which the browser is redirected.', schema: { type: 'string', format: 'uri' } },
  'Idempotency-Replayed': {
    description: '`true` if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
}

/** The headers that answers of the surface can have. */
function headersOf(rules: SurfaceRules): Record<string, unknown> {
  const taken = [...rules.headers, ...rules.otherHeaders]
  return Object.fromEntries(Object.entries(answerHeaders).filter(([name]) => taken.includes(name)))
}

function withExamples(schemas: Record<string, Schema>, demo: DemoIds): Record<string, Schema> {
  const known = Object.entries(exampleRecords(demo)).filter(([name]) => name in schemas)
  const examples = known.map(([name, example]) => [name, { ...schemas[name], examples: [example] }])
  return { ...schemas, ...Object.fromEntries(examples) }
}

function sorted<Value>(record: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
