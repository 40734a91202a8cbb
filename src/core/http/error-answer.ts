// Writes every error response of REST and of plain HTTP: the envelope, its status and Retry-After.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../app.ts'
import { codeOf, type ErrorCode, errors, failure, retryAfterOf } from '../errors.ts'
import { publicFailure, ServiceAway } from '../public-failure.ts'

export function sendError(
  reply: FastifyReply,
  code: ErrorCode,
  message: string = errors[code].message,
  error?: Error,
): FastifyReply {
  setRetryAfter(reply, code, error)
  return reply.code(errors[code].status).type('application/json; charset=utf-8').send({ error: { code, message } })
}

/** Sends an error response in the envelope for anything thrown. */
export function answerError(app: App, error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message } = failureOf(app, error, request)
  return sendError(reply, code, message, error)
}

/** Sets `Retry-After` where a retry may succeed: to the seconds that the error names, or else to 1 unless it is set. */
export function setRetryAfter(reply: FastifyReply, code: ErrorCode, error?: Error): void {
  const { status } = errors[code]
  const seconds = error && retryAfterOf(error)
  const mayPass = status === 429 || status === 503 || code === 'IDEMPOTENCY_IN_PROGRESS'
  if (seconds !== undefined || (mayPass && !reply.hasHeader('Retry-After'))) reply.header('Retry-After', seconds ?? 1)
}

/** Returns what the caller may learn of anything thrown; unforeseen errors are logged. */
export function failureOf(app: App, error: Error, request: Pick<FastifyRequest, 'id'>): { code: ErrorCode; message: string } {
  // An error with a code was logged at its origin.
  if (codeOf(error)) return publicFailure(error)
  const known = publicFailure(fromFastify(error as FastifyError))
  if (known.code === 'INTERNAL_ERROR') app.log.error({ err: error, requestId: request.id }, 'unforeseen error')
  else if (error instanceof ServiceAway) app.log.warn({ err: error, requestId: request.id }, error.message)
  return known
}

/** Translates Fastify's own errors into those of the API. */
function fromFastify(error: FastifyError): Error {
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return failure('UNSUPPORTED_MEDIA_TYPE')
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' || error.statusCode === 413) return failure('PAYLOAD_TOO_LARGE')
  if (error.code === 'FST_ERR_BAD_URL') return failure('NOT_FOUND')
  if (error.statusCode === 415) return failure('UNSUPPORTED_MEDIA_TYPE')
  if (error.statusCode === 400) return failure('VALIDATION_ERROR', 'body: is not valid JSON')
  return error
}
