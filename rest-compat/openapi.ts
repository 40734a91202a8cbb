// The document that describes the REST API: OpenAPI 3.1, made from the rows' own schemas and the graph's words.
import type { z } from 'zod'
import { exampleRecords } from './example-records.ts'
import type { DemoIds } from './examples.ts'
import { streamOf, webhooksOf } from './openapi-events.ts'
import { fileOperation } from './openapi-files.ts'
import { type Components, type Operation, type OperationSource, operationOf } from './openapi-operation.ts'
import { createSchemas } from './openapi-schemas.ts'
import { introduction, tagOf, tags } from './openapi-words.ts'
import type { Schema } from './openapi-zod.ts'
import { routes } from './routes.ts'

export interface ApiSource extends OperationSource {
  /** What the address of the event stream may say. */
  streamQuery: z.ZodObject
  /** Where the API is, as callers reach it; without it the document's own origin. */
  publicUrl?: string | undefined
}

export type OpenApiDocument = Record<string, unknown> & {
  paths: Record<string, Record<string, Operation & { tags: string[] }>>
  components: Record<'schemas' | 'responses' | 'parameters' | 'headers' | 'securitySchemes', Record<string, unknown>>
}

/** The whole document; the same one each time. */
export function describeApi(source: ApiSource): OpenApiDocument {
  const components: Components = { schemas: createSchemas(source.graph), responses: {} }
  const webhooks = webhooksOf(components)
  const served: [path: string, method: string, operation: Operation][] = [
    ...routes
      .filter(({ surfaces }) => surfaces.includes('public'))
      .map((route): (typeof served)[number] => [
        route.path,
        route.method,
        'door' in route ? fileOperation(source, components, route) : operationOf(source, components, route),
      ]),
    ['/events/stream', 'GET', streamOf(components, source.streamQuery)],
    ['/openapi.json', 'GET', thisDocument],
  ]
  const inOrder = tags.flatMap(({ name }) => served.filter(([path]) => tagOf(path) === name))
  const paths: OpenApiDocument['paths'] = {}
  for (const [path, method, operation] of inOrder) {
    const address = path.replaceAll(/:(\w+)/g, '{$1}')
    paths[address] ??= {}
    paths[address][method.toLowerCase()] = { tags: [tagOf(path)], ...operation }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Messaging gateway',
      version: '1.0.0',
      summary: 'Send and receive messages through connected phone accounts.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${source.publicUrl ?? ''}/api/v1`, description: 'This gateway.' }],
    security: [{ ApiKey: [] }],
    tags,
    paths,
    webhooks,
    components: {
      securitySchemes,
      parameters: { 'Idempotency-Key': idempotencyKey },
      headers,
      schemas: sorted(withExamples(components.schemas.components, source.demo)),
      responses: sorted(components.responses),
    },
  }
}

const thisDocument: Operation = {
  operationId: 'openapi',
  summary: 'Read this document',
  description: 'Needs no key and is in no envelope.',
  responses: {
    200: {
      description: 'OpenAPI 3.1.',
      headers: { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } },
      content: { 'application/json': { schema: { type: 'object', description: 'OpenAPI 3.1.' } } },
    },
    304: { description: 'It is still the one with the `ETag` of `If-None-Match`.' },
  },
  security: [],
}

const securitySchemes = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'A personal key begins with `svc_live_`, a team key with `svc_team_`.',
  },
  TeamId: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Team-Id',
    description: "The team's id. It goes with a team key, and with no other.",
  },
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Repeating a request with the same key within 72 hours is answered as the first time and does nothing twice. 1 to 255 printable ASCII characters.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
}

const integer = { type: 'integer', minimum: 0 }
const headers = {
  'X-Request-Id': {
    description: 'Names the request in the logs: your own `X-Request-Id` of 1 to 128 characters `[A-Za-z0-9._-]`, or a new one.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: 'Requests that this key may make in any one second.', schema: integer },
  'RateLimit-Remaining': { description: 'How many of them are left.', schema: integer },
  'RateLimit-Reset': { description: 'Seconds until they are all there again.', schema: integer },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: integer },
  'Idempotency-Replayed': {
    description: '`true` where this is the kept answer to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', const: 'true' },
  },
}

function withExamples(schemas: Record<string, Schema>, demo: DemoIds): Record<string, Schema> {
  const examples = Object.entries(exampleRecords(demo)).map(([name, example]) => [
    name,
    { ...schemas[name], examples: [example] },
  ])
  return { ...schemas, ...Object.fromEntries(examples) }
}

function sorted<Value>(record: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
