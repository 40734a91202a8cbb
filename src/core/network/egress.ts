// The only HTTP client for addresses that callers supply (SSRF protection): looks names up itself, and refuses private networks
// at every step.
import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { checkTarget, isReachableBy, literalOf, type Purpose, privateNetwork } from './address.ts'
import { EgressError, type EgressFault, faultOf } from './egress-fault.ts'

/** Returns every address (A and AAAA) of a name; none if it has none or no name server answers. */
export type Resolve = (name: string) => Promise<string[]>

export interface EgressOptions {
  /** CIDRs of private networks that may be reached, over http too. */
  allowed: readonly string[]
  resolve?: Resolve
  connectTimeoutMs?: number
  /** Certificate authorities (PEM) trusted instead of the built-in ones. */
  ca?: string
}

export interface PostRequest {
  headers: Record<string, string>
  body: Buffer
  /** For the whole attempt: lookup, connection, response and its body. */
  timeoutMs: number
  /** Aborts the attempt earlier. */
  signal?: AbortSignal
}

/**
 * `bodyBytes` is the part of the response's body that was read: all of it, or up to the limit where reading stopped. `start` is its
 * first {@link keptBytes}.
 */
export type PostOutcome =
  | { outcome: 'response'; status: number; retryAfterMs: number | undefined; bodyBytes: number; start: Buffer }
  | { outcome: 'error'; reason: EgressFault }

export interface OpenRequest {
  /** For the whole attempt, with its redirects and its body. */
  timeoutMs: number
  signal?: AbortSignal
}

/**
 * `bytes` is the length of the body as the host declares it, or null. Reading `body` throws {@link EgressError}. The body of a 200 is closed at
 * the timeout, if nobody has read it. The body of every other answer is closed at once.
 */
export type OpenOutcome =
  | { outcome: 'response'; status: number; mimeType: string | null; bytes: number | null; body: AsyncIterable<Buffer> }
  | { outcome: 'error'; reason: EgressFault }

export interface Egress extends AsyncDisposable {
  /** Looks up the name of a webhook's URL. Returns the rule that the URL violates, or undefined if none is known. */
  checkName: (url: URL) => Promise<string | undefined>
  /** One attempt: no redirects, no proxies, verified certificates, at most 64 KiB read. Never throws. */
  post: (url: string, request: PostRequest) => Promise<PostOutcome>
  /** Opens a file. Follows at most 3 redirects, each checked like the first address; verified certificates, no proxies. Never throws. */
  open: (url: string, request: OpenRequest) => Promise<OpenOutcome>
}

const maxBodyBytes = 64 * 1024
const keptBytes = 2048
const maxHeaderBytes = 16 * 1024
const mostRedirects = 3

export function createEgress(options: EgressOptions): Egress {
  const { allowed, resolve = resolveByDns, connectTimeoutMs = 5_000, ca } = options

  function createConnect(protocol: string, purpose: Purpose): buildConnector.connector {
    const mayConnect = (address: string) => isReachableBy(protocol, address, allowed, purpose)
    const lookup: LookupFunction = (name, { all }, done) => {
      resolve(name).then(
        (addresses) => {
          const [first] = addresses
          if (first === undefined) return done(new EgressError('name_not_resolved'), [])
          // One private address among public ones is an attack too, because the socket picks the address to connect to.
          if (!addresses.every(mayConnect)) return done(new EgressError('blocked_address'), [])
          const records = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
          if (all) done(null, records)
          else done(null, first, first.includes(':') ? 6 : 4)
        },
        () => done(new EgressError('name_not_resolved'), []),
      )
    }
    const connect = buildConnector({ lookup, ca, timeout: connectTimeoutMs, allowH2: false, rejectUnauthorized: true })
    return (target, callback) => {
      // Sockets do not look up literal addresses, so the lookup hook never sees them.
      const literal = literalOf(target.hostname)
      if (literal && !mayConnect(literal)) return callback(new EgressError('blocked_address'), null)
      connect(target, (...[error, socket]) => {
        if (!socket) return callback(error, null)
        if (mayConnect(socket.remoteAddress ?? '')) return callback(null, socket)
        socket.destroy()
        callback(new EgressError('blocked_address'), null)
      })
    }
  }

  function createAgent(purpose: Purpose): Agent {
    const plain = createConnect('http:', purpose)
    const secure = createConnect('https:', purpose)
    return new Agent({
      connect: (target, callback) => (target.protocol === 'https:' ? secure : plain)(target, callback),
      allowH2: false,
      // Shorter than the keep-alive timeout of any server, so that a request never uses a connection that is just being closed.
      keepAliveTimeout: 1_000,
      keepAliveMaxTimeout: 1_000,
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  // Two, so that no webhook uses an open connection by plain http to a public address.
  const agents = { webhook: createAgent('webhook'), media: createAgent('media') }

  return {
    async checkName(url) {
      if (literalOf(url.hostname)) return undefined
      const addresses = await resolve(url.hostname).catch(() => [])
      if (addresses.length === 0) return url.protocol === 'http:' ? 'must be an absolute https URL' : undefined
      return addresses.every((address) => isReachableBy(url.protocol, address, allowed, 'webhook')) ? undefined : privateNetwork
    },

    async post(url, { headers, body, timeoutMs, signal }) {
      if (checkTarget(url, allowed, 'webhook')) return { outcome: 'error', reason: 'blocked_address' }
      const deadline = AbortSignal.timeout(timeoutMs)
      try {
        const { origin, pathname, search } = new URL(url)
        const response = await agents.webhook.request({
          origin,
          path: pathname + search,
          method: 'POST',
          headers,
          body,
          signal: signal ? AbortSignal.any([deadline, signal]) : deadline,
        })
        let bodyBytes = 0
        let start: Buffer = Buffer.alloc(0)
        for await (const chunk of response.body) {
          if (bodyBytes < keptBytes) start = Buffer.concat([start, chunk as Buffer]).subarray(0, keptBytes)
          bodyBytes += (chunk as Buffer).length
          if (bodyBytes > maxBodyBytes) break
        }
        const retryAfterMs = parseRetryAfter(response.headers['retry-after'])
        return { outcome: 'response', status: response.statusCode, retryAfterMs, bodyBytes, start }
      } catch (error) {
        if (deadline.aborted) return { outcome: 'error', reason: 'timeout' }
        return { outcome: 'error', reason: signal?.aborted ? 'interrupted' : faultOf(error) }
      }
    },

    async open(url, { timeoutMs, signal }) {
      const deadline = AbortSignal.timeout(timeoutMs)
      const ends = signal ? AbortSignal.any([deadline, signal]) : deadline
      const reasonOf: ReasonOf = (error) => (deadline.aborted ? 'timeout' : signal?.aborted ? 'interrupted' : faultOf(error))
      try {
        let target = url
        for (let redirects = 0; ; redirects++) {
          if (checkTarget(target, allowed, 'media')) return { outcome: 'error', reason: 'blocked_address' }
          const { origin, pathname, search } = new URL(target)
          const response = await agents.media.request({ origin, path: pathname + search, method: 'GET', signal: ends })
          // Closed before its end, a body emits an error, which would end the process.
          response.body.on('error', () => {})
          const { location } = response.headers
          if (
            response.statusCode >= 300 &&
            response.statusCode < 400 &&
            typeof location === 'string' &&
            redirects < mostRedirects
          ) {
            response.body.destroy()
            target = new URL(location, target).href
            continue
          }
          return answerOf(response, reasonOf)
        }
      } catch (error) {
        return { outcome: 'error', reason: reasonOf(error) }
      }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all([agents.webhook.destroy(), agents.media.destroy()])
    },
  }
}

function answerOf({ statusCode: status, headers, body }: Dispatcher.ResponseData, reasonOf: ReasonOf): OpenOutcome {
  if (status !== 200) body.destroy()
  const { 'content-type': type, 'content-length': length } = headers
  const mimeType = typeof type === 'string' ? type : null
  const bytes = typeof length === 'string' ? Number(length) : null
  return { outcome: 'response', status, mimeType, bytes, body: readBody(body, reasonOf) }
}

type ReasonOf = (error: unknown) => EgressFault

async function* readBody(body: AsyncIterable<Buffer>, reasonOf: ReasonOf): AsyncGenerator<Buffer> {
  try {
    yield* body
  } catch (error) {
    throw new EgressError(reasonOf(error))
  }
}

/** Uses c-ares: a slow name server would block the four threads of the system's resolver. */
async function resolveByDns(name: string): Promise<string[]> {
  const resolver = new Resolver({ timeout: 1_500, tries: 2 })
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
}

/** Parses Retry-After, which is seconds or an HTTP date, into milliseconds from the present. */
export function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const at = / GMT$/.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
