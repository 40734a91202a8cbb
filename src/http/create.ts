// The HTTP server's ground: limits, ids, the error envelope, figures. It knows no route of the product.
import { type IncomingMessage, METHODS } from 'node:http'
import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import findMyWay from 'find-my-way'

import type { App } from '../core/app.ts'
import { errors } from '../core/errors.ts'
import { bareAnswer, leaveRest, noteRequest, refuseConnection, requestIdOf, requestTimeoutMs } from '../core/http/connection.ts'
import { answerError, sendError } from '../core/http/error-answer.ts'
import { keepAddresses, trustOf } from '../core/network/proxy.ts'
import { trustedOrigins } from '../core/network/trusted-origins.ts'
import { boundConnections } from './connections.ts'
import { GuardedRequest } from './small-chunks.ts'
import { boundUnreadAnswers } from './unread-answers.ts'

/** Every method that Node reads; but CONNECT, which asks for a tunnel and not for a path. */
export const methods = METHODS.filter((method) => method !== 'CONNECT')

/** What still protects somebody where no answer is a page: the rest of helmet's headers would only be bytes. */
const headersOfJson = {
  contentSecurityPolicy: false,
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  // What else is served below this host is not ours to bind.
  strictTransportSecurity: { includeSubDomains: false },
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} as const

/** The answers that are given before a body is read. */
const unread = new Set([413, 415])

/** Who takes nothing of an answer for so long is cut, or answers that nobody reads would stay here for ever. */
const stallMs = 5_000

/** Ids are judged where they are read, whatever their length; the headers' bound is theirs too. */
const routing = { ignoreTrailingSlash: false, caseSensitive: true, maxParamLength: 16_384 }

/** A server that answers everything unforeseen, at any stage of a request, in the error envelope. */
export async function createHttp(app: App): Promise<FastifyInstance> {
  const http = Fastify({
    logger: false,
    trustProxy: trustOf(app.config.trustProxy),
    bodyLimit: 1024 * 1024,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    routerOptions: routing,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // The door says it, in the envelope.
    return503OnClosing: false,
    // Slow senders are cut: 5 s for the headers, 10 s for a whole request that is given no more.
    requestTimeout: requestTimeoutMs,
    connectionTimeout: 0,
    keepAliveTimeout: 5_000,
    http: {
      requireHostHeader: false,
      headersTimeout: 5_000,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16_384,
      IncomingMessage: GuardedRequest,
    },
    clientErrorHandler: refuseConnection,
    // A path that cannot be read comes before every hook.
    frameworkErrors: (error, request, reply) =>
      answerError(app, error, request, (reply as unknown as FastifyReply).header('X-Request-Id', request.id)),
  })
  for (const method of methods) if (!http.supportedMethods.includes(method)) http.addHttpMethod(method)
  if (app.config.trustProxy !== false) http.addHook('onRequest', async ({ raw }) => keepAddresses(raw))
  await http.register(helmet, headersOfJson)
  const origins = trustedOrigins(app)
  await http.register(cors, {
    origin: origins.length > 0 && origins,
    // Those that any route takes; a browser sends no other without being told that it may.
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    // The console's session is a cookie, wherever its pages are from.
    credentials: origins.length > 0,
    // Chromium remembers for 5 s where nothing is said, and every address has an answer of its own.
    maxAge: 600,
    exposedHeaders: [
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'Idempotency-Replayed',
    ],
  })
  http.addHook('onRequest', async (request, reply) => {
    noteRequest(request.raw, reply.raw)
    reply.header('X-Request-Id', request.id)
    // Node drops what the same packet brings after a request that asks for another protocol, so nothing may follow it.
    if (request.headers.upgrade !== undefined) reply.header('connection', 'close')
    const fault = faultOfHead(request.raw)
    if (fault) return await sendError(reply.header('connection', 'close'), 'VALIDATION_ERROR', fault)
  })
  http.addHook('onSend', async (request, reply) => {
    reply.raw.setTimeout(stallMs)
    // Caches in between do not know that x-api-key tells answers apart.
    if (!reply.hasHeader('cache-control')) reply.header('Cache-Control', 'no-store')
    if (leaveRest(request.raw)) reply.header('connection', 'close')
    // Node reads a small rest of a body and drops it, so that the connection stays.
    else if (unread.has(reply.statusCode) && request.headers.upgrade === undefined) reply.removeHeader('connection')
  })
  http.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    app.metrics.requestSeconds.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
  })
  // Of what a caller may expect we know nothing but to go on.
  http.server.on('checkExpectation', (request, response) => http.server.emit('request', request, response))
  boundConnections(http.server, app)
  boundUnreadAnswers(http.server)
  http.server.on('connect', (request, socket) => {
    socket.end(bareAnswer('405 Method Not Allowed', request, 'METHOD_NOT_ALLOWED', errors.METHOD_NOT_ALLOWED.message))
  })
  http.setErrorHandler((error: FastifyError, request, reply) => answerError(app, error, request, reply))
  http.setNotFoundHandler((_, reply) => sendError(reply, 'NOT_FOUND'))
  return http
}

/** What is wrong with a request before its path is looked at. A proxy in front may take another of two hosts, or not know HTTP/0.9. */
function faultOfHead({ httpVersion, headersDistinct }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.0' && httpVersion !== '1.1') return 'HTTP/1.0 or 1.1 is required'
  const hosts = headersDistinct.host ?? []
  if (hosts.length > 1) return 'Host: must be given once'
  return httpVersion === '1.1' && !hosts[0] ? 'Host: is required' : undefined
}

/**
 * Answers 404 where there is no such path, and 405 with `Allow` where it does not take the method, before the body is read. Each request's path
 * is looked up once more for that: a route for each method that Node reads would be thousands, which took 20 MB.
 */
export function refuseUnknown(http: FastifyInstance, taken: ReadonlyMap<string, ReadonlySet<string>>): void {
  const paths = findMyWay(routing)
  for (const [url, allowed] of taken) paths.on('GET', url, () => {}, allowed)
  http.addHook('onRequest', async (request, reply) => {
    const allowed = paths.find('GET', request.url)?.store as ReadonlySet<string> | undefined
    if (allowed && !allowed.has(request.method))
      return await sendError(reply.header('Allow', [...allowed].join(', ')), 'METHOD_NOT_ALLOWED')
    if (request.is404) return await sendError(reply, 'NOT_FOUND')
  })
}
