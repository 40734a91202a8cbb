// Bounds the memory of answers that clients have not read (slow-read protection). A client that reads a little at a time never triggers the
// write timeout of an answer, and one key can request many large answers per second.
import type { Server, Socket } from 'node:net'

/** Limit for all unread answers of the process together. */
const mostBytes = 128 * 1024 * 1024
/** A client may be slow for this long before its connection can be closed. */
const graceMs = 2_000
const pollMs = 500

export interface UnreadBounds {
  mostBytes: number
  graceMs: number
}

/** Closes the connections that have had unread bytes for longest, until at most `mostBytes` are left. */
export function boundUnreadAnswers(server: Server, bounds: UnreadBounds = { mostBytes, graceMs }): void {
  const sockets = new Set<Socket>()
  /** Time since when each socket has had unread bytes without a break. */
  const since = new WeakMap<Socket, number>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  function look(): void {
    const now = performance.now()
    let bytes = 0
    for (const socket of sockets) {
      bytes += socket.writableLength
      if (socket.writableLength === 0) since.delete(socket)
      else if (!since.has(socket)) since.set(socket, now)
    }
    if (bytes <= bounds.mostBytes) return
    const beganAt = (socket: Socket) => since.get(socket) ?? now
    const slow = [...sockets].filter((socket) => socket.writableLength > 0 && now - beganAt(socket) > bounds.graceMs)
    for (const socket of slow.sort((a, b) => beganAt(a) - beganAt(b))) {
      if (bytes <= bounds.mostBytes) return
      bytes -= socket.writableLength
      socket.destroy()
    }
  }

  const timer = setInterval(look, pollMs).unref()
  server.once('close', () => clearInterval(timer))
}
