// Dependencies that the endpoints of live events share.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../core/app.ts'
import type { Context } from '../../core/context.ts'
import type { Hub } from './fanout.ts'
import type { Prepare } from './operation.ts'

/** Admits a request and sets the rate limit headers of its reply. Throws a `failure()` when the request is refused. */
export type OpenContext = (request: FastifyRequest, reply: FastifyReply) => Promise<Context>

export interface Streaming {
  app: App
  hub: Hub
  openContext: OpenContext
  prepare: Prepare
}
