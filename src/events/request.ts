// Reads GraphQL requests to the stream doors, and answers what is wrong with them.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../core/context.ts'
import { errors, fail } from '../core/errors.ts'
import { idempotencyOf } from '../core/idempotency.ts'
import { parseJson, refuseShapes } from '../core/json.ts'
import { publicFailure } from '../core/public-failure.ts'
import { type OperationParams, parseParams } from './operation.ts'
import type { Streaming } from './streaming.ts'

/** The operation of a POST's JSON body or of a GET's query. @throws VALIDATION_ERROR, METHOD_NOT_ALLOWED, UNSUPPORTED_MEDIA_TYPE */
export function readOperation({ kindOf }: Streaming, request: FastifyRequest): OperationParams {
  if (request.method === 'POST') return parseParams(bodyOf(request))
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
 * A caller's context with what the `Idempotency-Key` of a POST promises, as at every other door. Where the body was parsed,
 * its operation is what must be the same, whatever its id on the connection. @throws VALIDATION_ERROR
 */
export function repeatable(context: Context, request: FastifyRequest, params: OperationParams): Context {
  const { method, body } = request
  if (method !== 'POST') return context
  const { query, operationName, variables } = params
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify([query, operationName, variables]))
  return { ...context, idempotency: idempotencyOf(request, bytes) }
}

/** What Fastify parsed, or left as it came. */
function bodyOf({ body, headers }: FastifyRequest): unknown {
  if (!/^application\/(graphql-response\+)?json\b/i.test(headers['content-type'] ?? '')) fail('UNSUPPORTED_MEDIA_TYPE')
  if (typeof body === 'string' || Buffer.isBuffer(body)) return parseJson(Buffer.from(body))
  refuseShapes(body, 'body')
  return body
}

function jsonOf(name: string, text: unknown): unknown {
  return text === undefined || text === '' ? undefined : parseJson(Buffer.from(String(text)), name)
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
