// Creates the HTTP server: limits, request ids, error envelope, metrics. It contains no product routes.
import { IncomingMessage, METHODS, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors, { type FastifyCorsOptions, type FastifyCorsOptionsDelegateCallback } from '@fastify/cors'
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import findMyWay from 'find-my-way'
import helmet from 'helmet'
import type { App } from '../core/app.ts'
import {
  boundStall,
  leaveRest,
  noteRequest,
  refuseConnection,
  refuseTunnel,
  requestIdOf,
  requestTimeoutMs,
} from '../core/http/connection.ts'
import { answerError, sendError } from '../core/http/error-answer.ts'
import { keepAddresses, trustOf } from '../core/network/proxy.ts'
import { trustedOrigins } from '../core/network/trusted-origins.ts'
import { accessLog } from './access-log.ts'
import { challengeOf } from './challenge.ts'
import { boundConnections } from './connections.ts'
import { beginInTurn } from './pipelining.ts'
import { GuardedRequest } from './small-chunks.ts'
import { boundUnreadAnswers } from './unread-answers.ts'

/** All methods that Node parses except CONNECT, which asks for a tunnel instead of a path. */
export const methods = METHODS.filter((method) => method !== 'CONNECT')

/** Security headers of every answer. Helmet's other headers matter to pages only, so they are off. */
const protection = headersBy(
  helmet({
    contentSecurityPolicy: false,
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: false,
    originAgentCluster: false,
    // Other services may run on subdomains of this host.
    strictTransportSecurity: { includeSubDomains: false },
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  }),
)

/** Runs the middleware once and returns the headers that it sets. Fastify's helmet plugin runs it for each request, which takes 7 µs. */
function headersBy(middleware: ReturnType<typeof helmet>): Record<string, string> {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  middleware(request, response, () => {})
  return response.getHeaders() as Record<string, string>
}

/** Statuses that are answered before the body is read. */
const unread = new Set([413, 415])

/**
 * A path with a trailing slash is the same route. Route parameters may be as long as the headers may be, so that the handler of a route
 * validates ids of any length.
 */
const routing = { ignoreTrailingSlash: true, caseSensitive: true, maxParamLength: 16_384 }

/** Takes the place of Fastify's JSON Schema compilers, which are a tenth of the modules of a start: zod validates, and routes have no schema. */
function refuseSchemas(): never {
  throw new Error('routes have no JSON Schema')
}

/** Longer than proxies keep an idle connection, mostly 60 s: they do not repeat a POST that meets a connection which is just being closed. */
const behindProxyMs = 75_000

/**
 * Creates a server that answers every unexpected error, at any stage of a request, in the error envelope. Its connections may use that
 * share of the files which the process may open.
 */
export async function createHttp(app: App, shareOfFiles = 0.75): Promise<FastifyInstance> {
  const http = Fastify({
    logger: false,
    trustProxy: trustOf(app.config.trustProxy),
    bodyLimit: 1024 * 1024,
    requestIdHeader: false,
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    routerOptions: routing,
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    // Authentication answers 503 in the error envelope instead.
    return503OnClosing: false,
    // Slow-request protection: 5 s for the headers, 10 s for the whole request, unless its route extends that.
    requestTimeout: requestTimeoutMs,
    connectionTimeout: 0,
    keepAliveTimeout: app.config.trustProxy === false ? 5_000 : behindProxyMs,
    http: {
      requireHostHeader: false,
      headersTimeout: 5_000,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16_384,
      IncomingMessage: GuardedRequest,
    },
    clientErrorHandler: refuseConnection,
    // Malformed paths are refused before any hook runs, so the request id header is set here.
    frameworkErrors: (error, request, reply) => answerError(app, error, request, reply.header('X-Request-Id', request.id)),
  })
  for (const method of methods) if (!http.supportedMethods.includes(method)) http.addHttpMethod(method)
  if (app.config.trustProxy !== false) http.addHook('onRequest', async ({ raw }) => keepAddresses(raw))
  // First, so that nothing behind a request that is refused for its head begins before the connection closes.
  http.addHook('onRequest', ({ raw }, reply, done) => {
    noteRequest(raw, reply.raw)
    beginInTurn(raw, reply.raw, done)
  })
  checkHeads(http)
  const origins = trustedOrigins(app)
  if (origins.length > 0) await http.register(cors, { delegator: corsFor(origins) })
  completeHeaders(http)
  recordAnswers(http, app)
  obeyExpect(http)
  boundConnections(http.server, app, shareOfFiles)
  boundUnreadAnswers(http.server)
  http.server.on('connect', refuseTunnel)
  http.setErrorHandler((error: FastifyError, request, reply) => answerError(app, error, request, reply))
  http.setNotFoundHandler((_, reply) => sendError(reply, 'NOT_FOUND'))
  return http
}

/** Sets the headers that every answer has, and refuses a request with a wrong head. */
function checkHeads(http: FastifyInstance): void {
  http.addHook('onRequest', (request, reply, done) => {
    reply.headers(protection).header('X-Request-Id', request.id)
    // After an upgrade request, Node drops what else arrived in the same packet, so the connection must not be reused.
    if (request.headers.upgrade !== undefined) reply.header('connection', 'close')
    const fault = faultOfHead(request.raw)
    if (fault) sendError(reply.header('connection', 'close'), 'VALIDATION_ERROR', fault)
    else done()
  })
}

/** Adds the headers that depend on the answer. */
function completeHeaders(http: FastifyInstance): void {
  http.addHook('onSend', (request, reply, _, done) => {
    boundStall(reply.raw)
    // Shared caches do not know that answers vary by x-api-key.
    if (!reply.hasHeader('cache-control')) reply.header('Cache-Control', 'no-store')
    const challenge = reply.statusCode === 401 ? challengeOf(request.url) : undefined
    if (challenge) reply.header('WWW-Authenticate', challenge)
    if (leaveRest(request.raw)) reply.header('connection', 'close')
    // Node reads and drops the small rest of a body, so the connection can be reused.
    else if (unread.has(reply.statusCode) && request.headers.upgrade === undefined) reply.removeHeader('connection')
    done()
  })
}

/** Measures each answer, and logs it if the access log is on. */
function recordAnswers(http: FastifyInstance, app: App): void {
  const logAccess = app.config.accessLog ? accessLog(app.log) : undefined
  http.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown'
    logAccess?.(request, reply, route)
    app.metrics.requestSeconds.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000)
    done()
  })
}

/**
 * `Expect: 100-continue` asks for the body only once the request is admitted. HTTP/1.0 has no interim responses: its clients would take one
 * for the answer. An unknown `Expect` header is ignored.
 */
function obeyExpect(http: FastifyInstance): void {
  http.server.on('checkContinue', (request, response) => http.server.emit('request', request, response))
  http.addHook('preParsing', (request, reply, _, done) => {
    const { headers, raw } = request
    if (headers.expect?.toLowerCase() === '100-continue' && raw.httpVersion === '1.1') reply.raw.writeContinue()
    done()
  })
  http.server.on('checkExpectation', (request, response) => http.server.emit('request', request, response))
}

/**
 * The CORS headers for pages of those origins. An OPTIONS request that is no preflight is refused as any other method is; the plugin would
 * answer it with a plain text.
 */
function corsFor(origin: string[]): FastifyCorsOptionsDelegateCallback {
  const options: FastifyCorsOptions = {
    origin,
    // The methods that routes accept. A browser sends other methods only after a preflight allows them.
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    // The console's session is a cookie, and its pages may come from another origin.
    credentials: true,
    // Chromium caches a preflight for 5 s by default, and caches it per URL.
    maxAge: 600,
    exposedHeaders: [
      'X-Request-Id',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'RateLimit-Policy',
      'Retry-After',
      'Idempotency-Replayed',
      // The file name of an export.
      'Content-Disposition',
    ],
  }
  const withoutPreflight: FastifyCorsOptions = { ...options, preflight: false }
  return ({ headers }, done) => {
    done(null, headers.origin && headers['access-control-request-method'] ? options : withoutPreflight)
  }
}

/**
 * The fault of a request's HTTP version or Host header; undefined if there is none. Prevents disagreement with a proxy, which may choose
 * the other of two Host headers, or may not know HTTP/0.9.
 */
function faultOfHead({ httpVersion, headersDistinct }: IncomingMessage): string | undefined {
  if (httpVersion !== '1.0' && httpVersion !== '1.1') return 'HTTP/1.0 or 1.1 is required'
  const hosts = headersDistinct.host ?? []
  if (hosts.length > 1) return 'Host: must be given once'
  return httpVersion === '1.1' && !hosts[0] ? 'Host: is required' : undefined
}

/**
 * Answers 404 for unknown paths, and 405 with `Allow` for methods that a path does not accept, before the body is read. A second lookup of
 * the path finds its methods: registering a route for every method would create thousands of routes, which took 20 MB.
 */
export function refuseUnknown(http: FastifyInstance, taken: ReadonlyMap<string, ReadonlySet<string>>): void {
  const paths = findMyWay(routing)
  for (const [url, allowed] of taken) paths.on('GET', url, () => {}, allowed)
  // `GET messages/send` matches the route of `messages/:id`; a request that matches a path without parameters needs no second lookup.
  const fixed = new Map([...taken].filter(([url]) => !/[:*]/.test(url)))
  http.addHook('onRequest', (request, reply, done) => {
    if (fixed.get(request.routeOptions.url ?? '')?.has(request.method)) return done()
    const allowed = paths.find('GET', request.url)?.store as ReadonlySet<string> | undefined
    if (allowed && !allowed.has(request.method)) {
      sendError(reply.header('Allow', [...allowed].join(', ')), 'METHOD_NOT_ALLOWED')
    } else if (request.is404) sendError(reply, 'NOT_FOUND')
    else done()
  })
}
