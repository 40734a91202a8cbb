// Describes the identity routes in the OpenAPI document. The server passes them in, because they have no GraphQL operation.
import type { z } from 'zod'
import type { ErrorCode } from '../../src/core/errors.ts'
import { errorResponses, inOrder, ofBody } from './errors.ts'
import type { Example } from './example.ts'
import { type Components, type Operation, parametersIn } from './operation.ts'
import { headerRefs } from './surface.ts'

/** A route for signing in, or for managing sessions and credentials. */
export interface IdentityRoute {
  method: 'GET' | 'POST' | 'DELETE'
  /** Path below the prefix of the surface, with `:name` for parameters. */
  path: string
  status: number
  operationId: string
  summary: string
  description: string
  /** `pathParameters` describes the path, and `query` the query string. */
  pathParameters?: z.ZodObject
  query?: z.ZodObject
  body?: { name: string; schema: z.ZodObject; examples: Record<string, Example> }
  /** Null if the answer is a redirect. */
  answer: z.ZodType | null
  /** True if the answer has no envelope. */
  bare: boolean
  /** Description of the successful answer. */
  done: string
  /** Names of the security schemes, of which the request needs one. Without any, the route is public. */
  credentials?: readonly string[]
  /** True if the route also works without a credential. */
  credentialOptional?: boolean
  setsCookie?: boolean
  /** Error codes beyond those of every route, of a body, and of a missing credential. */
  errors?: readonly ErrorCode[]
}

export function identityOperation(components: Components, route: IdentityRoute): Operation {
  const {
    operationId,
    summary,
    description,
    status,
    done,
    body,
    credentials = [],
    credentialOptional,
    pathParameters,
    query,
  } = route
  const { rules, schemas } = components
  const requirements = credentials.map((name) => ({ [name]: [] }))
  const headers = headerRefs([
    ...rules.headers,
    ...(route.setsCookie ? ['Set-Cookie'] : []),
    ...(route.answer ? [] : ['Location']),
  ])
  return {
    operationId,
    summary,
    description,
    parameters: [
      ...(pathParameters ? parametersIn('path', schemas, pathParameters) : []),
      ...(query ? parametersIn('query', schemas, query) : []),
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemas.body(body.name, body.schema), examples: body.examples } },
      },
    }),
    responses: {
      [status]: { description: done, headers, ...contentOf(components, route) },
      ...errorResponses(codesOf(route), components),
    },
    security: [...requirements, ...(credentialOptional ? [{}] : [])],
  }
}

function contentOf({ schemas }: Components, { answer, bare }: IdentityRoute): { content?: unknown } {
  if (!answer) return {}
  const data = schemas.answer(answer)
  const schema = bare ? data : { type: 'object', required: ['data'], properties: { data } }
  return { content: { 'application/json': { schema } } }
}

function codesOf({ method, credentials = [], credentialOptional, errors = [] }: IdentityRoute): ErrorCode[] {
  return inOrder([
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...(credentials.length > 0 && !credentialOptional ? (['UNAUTHORIZED'] as const) : []),
    // Also for routes that expect no body.
    ...(method === 'GET' ? [] : ofBody),
    ...errors,
  ])
}
