// The access log (ACCESS_LOG=1): one line for each request, when its answer has ended.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../core/log.ts'

/**
 * Returns a function that logs a request, whatever LOG_LEVEL is. The route stands for the path, because paths and queries may contain
 * secrets: addresses of files, one-time tokens, cursors. Headers and bodies are never logged.
 */
export function accessLog(log: Log): (request: FastifyRequest, reply: FastifyReply, route: string) => void {
  const lines = log.child({}, { level: 'info' })
  return (request, reply, route) => {
    const { method, id: requestId, ip, caller } = request
    const fields = { requestId, method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime), ip }
    lines.info(caller === null ? fields : { ...fields, account: caller }, 'request')
  }
}
