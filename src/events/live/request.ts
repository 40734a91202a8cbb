// Reads GraphQL requests to the stream doors, and answers what is wrong with them.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../core/context.ts'
import { errors, fail } from '../../core/errors.ts'
import { graphqlBodyOf } from '../../core/http/graphql-body.ts'
import { parseJson } from '../../core/http/json.ts'
import { fingerprintOf, idempotencyOf } from '../../core/idempotency/idempotency.ts'
import { publicFailure } from '../../core/public-failure.ts'
import { type OperationParams, parseParams } from './operation.ts'
import type { Streaming } from './streaming.ts'

/** The operation of a POST's JSON body or of a GET's query. @throws VALIDATION_ERROR, METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA_TYPE */
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
 * A caller's context with what the `Idempotency-Key` of a POST promises: the same body, or on a connection of many operations
 * the same operation. @throws VALIDATION_ERROR
 */
export function repeatable(context: Context, request: FastifyRequest, params: OperationParams): Context {
  if (request.method !== 'POST' || request.headers['idempotency-key'] === undefined) return context
  const { query, operationName, variables, extensions } = params
  // On a connection of many operations each has an id of its own, by which the bytes of a repeated one differ.
  const shared = extensions?.operationId !== undefined
  const fingerprint = shared
    ? fingerprintOf(request, Buffer.from(JSON.stringify([query, operationName, variables])))
    : request.fingerprint
  return { ...context, idempotency: idempotencyOf(request, fingerprint) }
}

function jsonOf(name: string, text: unknown): unknown {
  return text === undefined || text === '' ? undefined : parseJson(Buffer.from(String(text)), { name })
}

/** Answers a failure with its HTTP status, as GraphQL over HTTP has it. */
export function sendFailure({ app }: Streaming, reply: FastifyReply, error: unknown): FastifyReply {
  const { status, code, message } = statusOf(app.log, reply, error)
  if (status === 405) reply.header('allow', 'POST')
  return reply.code(status).send({ errors: [{ message, extensions: { code } }] })
}

/** Says a failure's status; sets `Retry-After` where it may go better later. */
export function statusOf(log: Streaming['app']['log'], reply: FastifyReply, error: unknown) {
  const told = publicFailure(error)
  if (told.code === 'INTERNAL_ERROR') log.error({ err: error }, 'a stream could not be opened')
  const { status } = errors[told.code]
  if ((status === 429 || status === 503) && !reply.hasHeader('retry-after')) reply.header('retry-after', '1')
  return { ...told, status }
}
