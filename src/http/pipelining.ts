// Answers the pipelined requests of a connection one at a time. Node hands over all requests of a packet at once, and keeps each answer until
// those before it were read: one packet of 1,000 requests for a file of 430 KB took 430 MB, and one for media opened 1,000 files.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Most requests that wait in this process. Each takes about 5 KB, and up to 64 KB of its body. The rest of a larger body is not read until its
 * turn, and must arrive within the time of a request.
 */
const mostWaiting = 2_000
let waiting = 0

/** The requests of one connection. */
interface Pipeline {
  /** True while one of them is in progress. */
  isBusy: boolean
  /** Begin the others, in order. */
  starts: (() => void)[]
}

const pipelines = new WeakMap<Socket, Pipeline>()

function pipelineOf(socket: Socket): Pipeline {
  const known = pipelines.get(socket)
  if (known) return known
  const pipeline: Pipeline = { isBusy: false, starts: [] }
  pipelines.set(socket, pipeline)
  // Node emits no `close` for a response that never got the connection, so the end of the connection counts, too.
  socket.once('close', () => {
    waiting -= pipeline.starts.length
    pipeline.starts = []
  })
  return pipeline
}

/**
 * Calls `begin` once the responses to the earlier requests of the connection have been sent; never if the connection ends before that. Closes
 * the connection if {@link mostWaiting} requests wait already.
 */
export function beginInTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  if (socket.destroyed) return
  const pipeline = pipelineOf(socket)
  const beginNext = () => {
    pipeline.isBusy = false
    const start = socket.writable ? pipeline.starts.shift() : undefined
    if (!start) return
    waiting--
    start()
  }
  const start = () => {
    pipeline.isBusy = true
    response.once('close', beginNext)
    begin()
  }
  if (!pipeline.isBusy) start()
  else if (waiting >= mostWaiting) socket.destroy()
  else {
    waiting++
    pipeline.starts.push(start)
  }
}
