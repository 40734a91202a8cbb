// The identity routes as operations of the document: the server hands them in, since they are no rows of the graph.
import type { z } from 'zod'
import type { ErrorCode } from '../../src/core/errors.ts'
import { errorResponses, inOrder, ofBody } from './errors.ts'
import type { Example } from './example.ts'
import { type Components, headerRefs, type Operation, parametersIn } from './operation.ts'

/** A route that somebody takes to be let in, or with what lets them in. */
export interface IdentityRoute {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below the prefix of the surface, with `:name` for parameters. */
  path: string
  status: number
  operationId: string
  summary: string
  description: string
  /** What is in the path, and what may be in the query. */
  pathParameters?: z.ZodObject
  query?: z.ZodObject
  body?: { name: string; schema: z.ZodObject; examples: Record<string, Example> }
  /** Null where the browser is sent elsewhere. */
  answer: z.ZodType | null
  /** Whether it answers in no envelope. */
  bare: boolean
  /** What it has done when it answers so. */
  done: string
  /** What it takes, by the names of the security schemes: any one; it is for everybody where there is none. */
  proofs?: readonly string[]
  /** Whether it does as well for who shows nothing. */
  proofOptional?: boolean
  setsCookie?: boolean
  /** Beyond those of every route, of a body and of a missing proof. */
  errors?: readonly ErrorCode[]
}

export function identityOperation(components: Components, route: IdentityRoute): Operation {
  const { operationId, summary, description, status, done, body, proofs = [], proofOptional, pathParameters, query } = route
  const { rules, schemas } = components
  const ways = proofs.map((name) => ({ [name]: [] }))
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
    security: [...ways, ...(proofOptional ? [{}] : [])],
  }
}

function contentOf({ schemas }: Components, { answer, bare }: IdentityRoute): { content?: unknown } {
  if (!answer) return {}
  const data = schemas.answer(answer)
  const schema = bare ? data : { type: 'object', required: ['data'], properties: { data } }
  return { content: { 'application/json': { schema } } }
}

function codesOf({ method, proofs = [], proofOptional, errors = [] }: IdentityRoute): ErrorCode[] {
  return inOrder([
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
    ...(proofs.length > 0 && !proofOptional ? (['UNAUTHORIZED'] as const) : []),
    // Also where no body is asked for.
    ...(method === 'GET' ? [] : ofBody),
    ...errors,
  ])
}
