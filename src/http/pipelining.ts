// Answers the pipelined requests of a connection one at a time. Node hands over all requests of a packet at once, and keeps each answer until
// those before it were read: one packet of 1,000 requests for a file of 430 KB took 430 MB, and one for media opened 1,000 files.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Most requests that wait in this process. Each takes about 5 KB, and up to 64 KB of its body. */
const mostWaiting = 2_000
let waiting = 0

interface Turn {
  over: boolean
  /** Begins the next request of the connection, which waits. */
  next?: () => void
}

/** Turn of the latest request of each connection. */
const latest = new WeakMap<Socket, Turn>()

/**
 * Calls `begin` once the responses to the earlier requests of the connection have been sent; never if the connection ends before that. Closes
 * the connection if {@link mostWaiting} requests wait already.
 */
export function beginInTurn({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
  const before = latest.get(socket)
  const turn: Turn = { over: false }
  latest.set(socket, turn)
  const end = () => {
    turn.over = true
    turn.next?.()
  }
  const start = () => {
    response.once('close', end)
    begin()
  }
  if (!before || before.over) start()
  else if (waiting >= mostWaiting) socket.destroy()
  else {
    waiting++
    before.next = () => {
      waiting--
      // Node emits no `close` for a response that was waiting when a CONNECT request came.
      if (socket.writable) start()
      else end()
    }
  }
}
