// Bodies of GraphQL requests, for every route of the graph. A fault is kept and thrown by the handler, which knows the form of
// the error response.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import { readBodies, readBody } from './body.ts'
import { jsonType } from './json.ts'

type Read = { value: unknown } | { fault: unknown }

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
 * The value of a request's body. @throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or VALIDATION_ERROR when {@link readBody} did;
 * UNSUPPORTED_MEDIA_TYPE when there is no body and its type is not JSON.
 */
export function graphqlBodyOf({ body, headers }: FastifyRequest): unknown {
  const read = body as Read | undefined
  if (!read && !jsonType.test(headers['content-type'] ?? '')) fail('UNSUPPORTED_MEDIA_TYPE')
  if (read && 'fault' in read) throw read.fault
  return read?.value
}
