// Reads GraphQL requests, for every route of the graph: the body of a POST, or the query string of a GET.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import type { GraphqlParams } from '../graph/graph.ts'
import { operationOf, prepare } from '../graph/prepared.ts'
import { readBodies, readBody } from './body.ts'
import { jsonType, parseJson } from './json.ts'

type Read = { value: unknown } | { fault: unknown }

/** Reads the bodies of a scope's routes. A fault is kept and thrown by {@link paramsOf}, after the caller is authorized. */
export function readGraphqlBodies(scope: FastifyInstance): void {
  readBodies(scope, async (request, payload): Promise<Read> => {
    try {
      return { value: await readBody(request, payload) }
    } catch (fault) {
      return { fault }
    }
  })
}

/**
 * The parameters of a request. @throws VALIDATION_ERROR when one is malformed (names it), UNSUPPORTED_MEDIA_TYPE when the body of a
 * POST is not JSON, PAYLOAD_TOO_LARGE when it is too large, METHOD_NOT_ALLOWED when a mutation comes by GET.
 */
export function paramsOf(request: FastifyRequest): GraphqlParams {
  if (request.method === 'POST') return checked(bodyOf(request))
  const { query, operationName, variables, extensions } = request.query as Record<string, unknown>
  const params = checked({
    query,
    operationName: operationName === '' ? undefined : operationName,
    variables: jsonOf('variables', variables),
    extensions: jsonOf('extensions', extensions),
  })
  if (isMutation(params)) fail('METHOD_NOT_ALLOWED', 'Mutations require POST')
  return params
}

function bodyOf({ body, headers }: FastifyRequest): unknown {
  const read = body as Read | undefined
  if (!read && !jsonType.test(headers['content-type'] ?? '')) fail('UNSUPPORTED_MEDIA_TYPE')
  if (read && 'fault' in read) throw read.fault
  return read?.value
}

function jsonOf(name: string, text: unknown): unknown {
  if (text === undefined || text === '') return undefined
  if (typeof text !== 'string') fail('VALIDATION_ERROR', `${name}: must be given once`)
  return parseJson(Buffer.from(text), { name })
}

function checked(value: unknown): GraphqlParams {
  if (Array.isArray(value)) fail('VALIDATION_ERROR', 'body: must be a JSON object; batching is not supported')
  if (typeof value !== 'object' || value === null) fail('VALIDATION_ERROR', 'body: must be a JSON object')
  const { query, operationName, variables, extensions } = value as Record<string, unknown>
  if (typeof query !== 'string' || query === '') fail('VALIDATION_ERROR', 'query: must be a non-empty string')
  if (operationName != null && typeof operationName !== 'string') fail('VALIDATION_ERROR', 'operationName: must be a string')
  if (!isMap(variables)) fail('VALIDATION_ERROR', 'variables: must be an object')
  if (!isMap(extensions)) fail('VALIDATION_ERROR', 'extensions: must be an object')
  return {
    query,
    operationName: operationName ?? undefined,
    variables: variables ?? undefined,
    extensions: extensions ?? undefined,
  }
}

function isMap(value: unknown): value is Record<string, unknown> | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value))
}

/** False for a document with a fault, which is reported when it is executed. */
function isMutation({ query, operationName }: GraphqlParams): boolean {
  try {
    return operationOf(prepare(query).document, operationName)?.node.operation === 'mutation'
  } catch {
    return false
  }
}
