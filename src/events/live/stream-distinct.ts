// GraphQL over SSE, one operation per connection ("distinct connections" mode of graphql-sse).
import type { FastifyReply, FastifyRequest } from 'fastify'
import { paramsOf } from '../../core/http/graphql-request.ts'
import { streamHeaders } from './bounded-writer.ts'
import { distinctComplete, distinctFarewell, distinctFrame, distinctResult } from './frames.ts'
import { withIdempotency } from './idempotency.ts'
import { streamLog, streamState } from './open-stream.ts'
import type { Streaming } from './streaming.ts'

/**
 * Answers a request that wants its operation's results as a stream. Errors of the caller or of the request itself are thrown. Errors of
 * the operation are sent on the stream, as `next` with errors and then `complete`.
 */
export async function serveDistinct(streaming: Streaming, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { hub, openContext, prepare } = streaming
  const caller = { ...(await openContext(request, reply)), response: reply.raw }
  const params = paramsOf(request)
  const context = withIdempotency(caller, request, params)
  const prepared = await prepare(params, context, request.headers['last-event-id'])
  if (context.idempotency?.replayed) reply.header('Idempotency-Replayed', 'true')
  const options = { owner: context.principal, frame: distinctFrame, farewell: distinctFarewell }
  if (prepared.kind === 'log') await streamLog(streaming, reply, prepared.view, prepared.start, options)
  else if (prepared.kind === 'state') await streamState(hub, reply, prepared.view, distinctComplete, options)
  else return await reply.code(200).headers(streamHeaders).send(distinctResult(prepared.result))
  return reply
}
