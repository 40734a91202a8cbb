// A process that opens many connections as fast as it can, and then sends nothing on them, or half a request, or nothing after
// a complete one. It prints how many were open at once when all had been opened, and how long the server kept the last one
// open.
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
    // The data must be consumed, or the end of the connection is not noticed.
    socket.on('error', () => {}).resume()
    socket.on('close', () => {
      closed++
      longestMs = Math.max(longestMs, performance.now() - openedAt)
      if (closed === count) console.log(`closed ${count}, the last after ${(longestMs / 1000).toFixed(1)} s`)
    })
  }
}

open()
