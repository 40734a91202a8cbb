// A process that opens many connections as fast as it can, and then says nothing on them, or half a request, or nothing after
// a whole one. Writes how many were open at once when it has opened all, and how long the other side let them be.
import { connect } from 'node:net'

const [port, count] = process.argv.slice(2).map(Number) as [number, number]
const begun = ['', 'GET /livez HTTP/1.1\r\nHost: x\r\nX-A: ', 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n']
/** Fewer than a server's queue of new connections holds. */
const atOnce = 200

let opening = 0
let opened = 0
let closed = 0
let longestMs = 0

function open(): void {
  while (opening < atOnce && opened + opening < count) {
    opening++
    const text = begun[(opened + opening) % begun.length] as string
    let openedAt = 0
    const socket = connect(port, '127.0.0.1', () => {
      opening--
      opened++
      openedAt = performance.now()
      if (text) socket.write(text)
      if (opened === count) console.log(`opened ${count}, ${opened - closed} at once`)
      open()
    })
    // Data must be taken for the end to be seen.
    socket.on('error', () => {}).resume()
    socket.on('close', () => {
      closed++
      longestMs = Math.max(longestMs, performance.now() - openedAt)
      if (closed === count) console.log(`closed ${count}, the last after ${(longestMs / 1000).toFixed(1)} s`)
    })
  }
}

open()
