// Bounds the memory of answers that their readers do not take. A reader that takes a little now and then is not stalled, so the time limit of
// each answer does not end it, and one key can ask for many large answers a second.
import type { Server, Socket } from 'node:net'

/** For all answers of the process together. */
const mostBytes = 128 * 1024 * 1024
/** A reader who is this slow is not cut yet. */
const graceMs = 2_000
const lookMs = 500

export interface UnreadBounds {
  mostBytes: number
  graceMs: number
}

/** Cuts the connections that have kept bytes waiting longest, until all that waits together is at most `mostBytes`. */
export function boundUnreadAnswers(server: Server, bounds: UnreadBounds = { mostBytes, graceMs }): void {
  const sockets = new Set<Socket>()
  /** Since when each has kept bytes waiting without a moment in which it had taken all. */
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

  const timer = setInterval(look, lookMs).unref()
  server.once('close', () => clearInterval(timer))
}
