// Client of Meta's Graph API. It repeats nothing by itself, and says of each call if it was answered, never reached Meta, or got lost.
import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { App } from '../../core/app.ts'
import { hourMs } from '../../core/durations.ts'
import { parseRetryAfter } from '../../core/network/egress.ts'
import { definePart } from '../../core/part.ts'
import { storable } from '../../core/storable.ts'
import { fieldsOf, isObject } from './values.ts'

export interface GraphCall {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below the version, without a slash at its start. */
  path: string
  query?: Readonly<Record<string, string>>
  accessToken: string
  json?: object
  /** A body that is no JSON, with its length in bytes. */
  stream?: { type: string; length: number; bytes: AsyncIterable<Uint8Array> }
  /** For the whole call, in milliseconds. */
  timeoutMs?: number
}

/** An answer in the Graph API's form of an error. */
export interface GraphError {
  is: 'error'
  status: number
  code: number
  subcode?: number
  /** Meta's words, or an empty text. They may repeat what the request held. */
  words: string
  retryAfterMs: number | undefined
}

export type GraphAnswer =
  | { is: 'done'; body: Record<string, unknown> }
  | GraphError
  /** Answered by a server that is not the Graph API, or says nothing of the reason. */
  | { is: 'bare'; status: number; retryAfterMs: number | undefined }
  /** Nothing was sent. */
  | { is: 'unreached' }
  /** Meta may have done it. */
  | { is: 'lost' }

export interface Graph {
  /** Never throws. */
  call: (call: GraphCall) => Promise<GraphAnswer>
  agent: Dispatcher
}

/** A message has 8 s in all (messages/dispatch/policy.ts), which these times share with an upload. */
const connectMs = 2_500
const callMs = 4_500
/** From the first byte sent to the last one received, by default. */
export const longestCallMs = connectMs + callMs
const mostBytes = 1024 * 1024

export const graph = definePart(openGraph)

function openGraph({ config }: Pick<App, 'config'>): Graph {
  // As many connections as there are calls: a limit would let one account that hangs hold up the others.
  const { connect, hasFailed } = openConnector()
  const agent = new Agent({ connect, allowH2: false, pipelining: 1, keepAliveTimeout: 4_000 })
  const base = new URL(`${config.cloud.apiUrl}/${config.cloud.apiVersion}/`)

  async function call({ method, path, query, accessToken, json, stream, timeoutMs = callMs }: GraphCall): Promise<GraphAnswer> {
    const url = new URL(path, base)
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value)
    const headers: Record<string, string> = { authorization: `Bearer ${accessToken}`, accept: 'application/json' }
    if (json) headers['content-type'] = 'application/json'
    if (stream) Object.assign(headers, { 'content-type': stream.type, 'content-length': String(stream.length) })
    try {
      const response = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        body: json ? JSON.stringify(json) : stream?.bytes,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal: AbortSignal.timeout(timeoutMs + connectMs),
      } as Dispatcher.RequestOptions)
      return await read(response)
    } catch (error) {
      return { is: hasFailed(error) ? 'unreached' : 'lost' }
    }
  }

  return { call, agent }
}

async function read({ statusCode: status, headers, body }: Dispatcher.ResponseData): Promise<GraphAnswer> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > mostBytes) return { is: 'lost' }
    chunks.push(chunk)
  }
  const answer = parsed(Buffer.concat(chunks).toString())
  const retryAfterMs = boundedWait(parseRetryAfter(headers['retry-after']))
  const { error } = answer ?? {}
  if (status >= 400 && isObject(error) && typeof error.code === 'number') {
    const { code, error_subcode: subcode } = error
    return { is: 'error', status, code, ...(typeof subcode === 'number' && { subcode }), words: wordsIn(error), retryAfterMs }
  }
  if (status >= 200 && status < 300) return answer ? { is: 'done', body: answer } : { is: 'lost' }
  return status >= 500 ? { is: 'lost' } : { is: 'bare', status, retryAfterMs }
}

/** Meta's limits end within the hour. A wrong time must neither let calls follow without a pause, nor stop an account for days. */
const longestWaitMs = hourMs

function boundedWait(ms: number | undefined): number | undefined {
  return ms ? Math.min(ms, longestWaitMs) : undefined
}

/** Texts are without the characters that cannot be stored, because words and names go into rows. */
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text, (_, each) => (typeof each === 'string' ? storable(each) : each))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The most exact words of an error: the details, or else the message without its code. */
function wordsIn({ error_data, message }: Record<string, unknown>): string {
  const { details } = fieldsOf(error_data)
  const words = typeof details === 'string' && details !== '' ? details : message
  return typeof words === 'string' ? words.replace(/^\(#\d+\)\s*/, '') : ''
}

/**
 * Makes connections, and remembers the errors of those that were never made, TLS included: nothing was sent over them. The code of an error
 * does not tell, because a connection in use may end with the same one.
 */
function openConnector(): { connect: buildConnector.connector; hasFailed: (error: unknown) => boolean } {
  const make = buildConnector({ timeout: connectMs, allowH2: false })
  const failures = new WeakSet<object>()
  return {
    connect: (options, callback) =>
      make(options, (...result) => {
        if (result[0]) failures.add(result[0])
        callback(...result)
      }),
    hasFailed: (error) => typeof error === 'object' && error !== null && failures.has(error),
  }
}
