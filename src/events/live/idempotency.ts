// Idempotency of operations that come to the stream endpoints.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../core/context.ts'
import type { GraphqlParams } from '../../core/graph/graph.ts'
import { fingerprintOf, idempotencyOf } from '../../core/idempotency/idempotency.ts'

/**
 * Returns the caller's context with the `Idempotency-Key` of a POST. The key stands for the same body or, in single-connection mode, for
 * the same operation.
 * @throws VALIDATION_ERROR when the key is malformed.
 */
export function withIdempotency(context: Context, request: FastifyRequest, params: GraphqlParams): Context {
  if (request.method !== 'POST' || request.headers['idempotency-key'] === undefined) return context
  const { query, operationName, variables, extensions } = params
  // In single-connection mode each operation has its own id, so the bytes of a repeated one differ.
  const shared = extensions?.operationId !== undefined
  const fingerprint = shared
    ? fingerprintOf(request, Buffer.from(JSON.stringify([query, operationName, variables])))
    : request.fingerprint
  return { ...context, idempotency: idempotencyOf(request, fingerprint) }
}
