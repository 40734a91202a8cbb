// Writes the answers of GraphQL requests, by the GraphQL over HTTP specification.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult } from 'graphql'
import type { App } from '../app.ts'
import { codeOf, errors, failure } from '../errors.ts'
import { answerText } from '../graph/answer.ts'
import { failureOf, setRetryAfter } from './error-answer.ts'
import { preferencesIn } from './preferences.ts'

const graphqlType = 'application/graphql-response+json'
const jsonType = 'application/json'

/** The content type to answer with: the known media type that the `Accept` header prefers, by default JSON. */
function typeOf({ headers }: FastifyRequest): string {
  return preferencesIn(headers.accept).find((type) => type === graphqlType || type === jsonType) ?? jsonType
}

/**
 * Sends a result. Plain JSON has the status 200; the other type has the status of the error if nothing was executed. Both have 503 if
 * everything that was asked for failed because the service is unavailable, so that clients and proxies ask again.
 */
export async function sendResult(request: FastifyRequest, reply: FastifyReply, result: ExecutionResult): Promise<FastifyReply> {
  const type = typeOf(request)
  const refusal = result.data === undefined ? codeOf(result.errors?.[0]) : null
  const code = isUnavailable(result) ? 'SERVICE_UNAVAILABLE' : type === graphqlType ? refusal : null
  if (code) setRetryAfter(reply, code, result.errors?.[0])
  const status = code ? errors[code].status : 200
  return await reply.code(status).type(`${type}; charset=utf-8`).send(answerText(result, result.data))
}

function isUnavailable({ data, errors: found = [] }: ExecutionResult): boolean {
  const failed = found.length > 0 && found.every((error) => codeOf(error) === 'SERVICE_UNAVAILABLE')
  return failed && Object.values(data ?? {}).every((value) => value === null)
}

/** Sends an error that occurred before the operation ran, with its HTTP status. */
export function sendFailure(app: App, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, message } = failureOf(app, error as Error, request)
  const { status } = errors[code]
  setRetryAfter(reply, code, error as Error)
  if (status === 405) reply.header('Allow', request.method === 'GET' ? 'POST' : 'GET, POST')
  return reply
    .code(status)
    .type(`${typeOf(request)}; charset=utf-8`)
    .send(JSON.stringify({ errors: [{ message, extensions: failure(code, message).extensions }] }))
}
