// Reads GraphQL requests to the stream endpoints, and answers failures.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../core/context.ts'
import { errors, fail } from '../../core/errors.ts'
import { graphqlBodyOf } from '../../core/http/graphql-body.ts'
import { parseJson } from '../../core/http/json.ts'
import { fingerprintOf, idempotencyOf } from '../../core/idempotency/idempotency.ts'
import { publicFailure } from '../../core/public-failure.ts'
import { type OperationParams, parseParams } from './operation.ts'
import type { Streaming } from './streaming.ts'

/**
 * Reads the operation from the JSON body of a POST, or from the query string of a GET.
 * @throws VALIDATION_ERROR when the request is malformed.
 * @throws METHOD_NOT_ALLOWED when a mutation comes by GET.
 * @throws UNSUPPORTED_MEDIA_TYPE when the body of a POST is not JSON.
 * @throws PAYLOAD_TOO_LARGE when the body is too large.
 */
export async function readOperation({ kindOf }: Streaming, request: FastifyRequest): Promise<OperationParams> {
  if (request.method === 'POST') return parseParams(graphqlBodyOf(request))
  const { query, operationName, variables, extensions } = request.query as Record<string, unknown>
  const params = parseParams({
    query,
    operationName,
    variables: jsonOf('variables', variables),
    extensions: jsonOf('extensions', extensions),
  })
  if (kindOf(params) === 'mutation') fail('METHOD_NOT_ALLOWED', 'Mutations take POST')
  return params
}

/**
 * Adds the promise of a POST's `Idempotency-Key` to the caller's context. The key stands for the same body or, in single-connection
 * mode, for the same operation.
 * @throws VALIDATION_ERROR when the key is malformed.
 */
export function repeatable(context: Context, request: FastifyRequest, params: OperationParams): Context {
  if (request.method !== 'POST' || request.headers['idempotency-key'] === undefined) return context
  const { query, operationName, variables, extensions } = params
  // In single-connection mode each operation has its own id, so the bytes of a repeated one differ.
  const shared = extensions?.operationId !== undefined
  const fingerprint = shared
    ? fingerprintOf(request, Buffer.from(JSON.stringify([query, operationName, variables])))
    : request.fingerprint
  return { ...context, idempotency: idempotencyOf(request, fingerprint) }
}

function jsonOf(name: string, text: unknown): unknown {
  return text === undefined || text === '' ? undefined : parseJson(Buffer.from(String(text)), { name })
}

/** Answers a failure with its HTTP status, as the GraphQL over HTTP specification requires. */
export function sendFailure({ app }: Streaming, reply: FastifyReply, error: unknown): FastifyReply {
  const { status, code, message } = statusOf(app.log, reply, error)
  if (status === 405) reply.header('allow', 'POST')
  return reply.code(status).send({ errors: [{ message, extensions: { code } }] })
}

/** Returns a failure with its HTTP status. Sets `Retry-After` when a later attempt may succeed (429 and 503). */
export function statusOf(log: Streaming['app']['log'], reply: FastifyReply, error: unknown) {
  const told = publicFailure(error)
  if (told.code === 'INTERNAL_ERROR') log.error({ err: error }, 'a stream could not be opened')
  const { status } = errors[told.code]
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) reply.header('retry-after', '1')
  return { ...told, status }
}
