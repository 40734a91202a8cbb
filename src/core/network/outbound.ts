// Bounds the total time and size of each `fetch` from services that the operator configured, an identity provider or Stripe.
// Fetch itself limits neither a response that drips nor one without an end.
import { Agent, type Dispatcher, setGlobalDispatcher } from 'undici'

export interface FetchBounds {
  /** From the call to the end of the response, in milliseconds. */
  deadlineMs: number
  /** Most bytes of the response on the wire. */
  mostBytes: number
  /** The same as `mostBytes`, for a compressed response, which may hold a thousand times as much. */
  mostCompressedBytes: number
}

/** The deadline is longer than any caller of `fetch` waits. */
const usual: FetchBounds = { deadlineMs: 12_000, mostBytes: 4 * 1024 * 1024, mostCompressedBytes: 256 * 1024 }
const connectMs = 3_000

/** Bounds every later `fetch` of this process. */
export function boundFetch(): void {
  setGlobalDispatcher(createBoundedDispatcher(usual))
}

/** Creates a dispatcher for `fetch`. A call beyond the bounds fails, and its connection is closed. */
export function createBoundedDispatcher(bounds: FetchBounds): Dispatcher {
  const agent = new Agent({ connect: { timeout: Math.min(connectMs, bounds.deadlineMs) }, allowH2: false })
  return agent.compose((dispatch) => (options, handler) => dispatch(options, bounded(handler, bounds)))
}

function bounded(handler: Dispatcher.DispatchHandler, bounds: FetchBounds): Dispatcher.DispatchHandler {
  const deadlineAt = performance.now() + bounds.deadlineMs
  let timer: NodeJS.Timeout | undefined
  let { mostBytes } = bounds
  let bytes = 0
  return {
    onRequestStart(controller, context) {
      const late = new Error(`no whole answer within ${bounds.deadlineMs} ms`)
      timer = setTimeout(() => controller.abort(late), Math.max(0, deadlineAt - performance.now()))
      handler.onRequestStart?.(controller, context)
    },
    onRequestUpgrade: (...args) => handler.onRequestUpgrade?.(...args),
    onResponseStart(controller, status, headers, message) {
      if (headers['content-encoding'] !== undefined) mostBytes = bounds.mostCompressedBytes
      handler.onResponseStart?.(controller, status, headers, message)
    },
    onResponseData(controller, chunk) {
      bytes += chunk.length
      if (bytes > mostBytes) controller.abort(new Error(`an answer of more than ${mostBytes} bytes`))
      else handler.onResponseData?.(controller, chunk)
    },
    onResponseEnd(controller, trailers) {
      clearTimeout(timer)
      handler.onResponseEnd?.(controller, trailers)
    },
    onResponseError(controller, error) {
      clearTimeout(timer)
      handler.onResponseError?.(controller, error)
    },
  }
}
