// A process that holds many subscriptions over bare sockets and counts events, so that reading costs the server nothing.
import net from 'node:net'

export interface ReadersOrder {
  /** Opens one connection for each request; replies `open` when all have their response. */
  open?: { host: string; port: number; requests: string[] }
  /** Replies `done` when every connection has received this many events since the last order. */
  expect?: number
}

const marker = Buffer.from('event: next\n')
interface Reader {
  events: number
  rest: Buffer
}
const readers: Reader[] = []
let expected = Number.POSITIVE_INFINITY
let behind = 0

process.on('message', (order: ReadersOrder) => {
  if (order.open) void open(order.open)
  if (order.expect !== undefined) {
    expected = order.expect
    behind = readers.filter((reader) => reader.events < expected).length
    if (behind === 0) report()
  }
})

async function open({ host, port, requests }: NonNullable<ReadersOrder['open']>): Promise<void> {
  for (const request of requests) await connect(host, port, request)
  process.send?.('open')
}

function connect(host: string, port: number, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const reader: Reader = { events: 0, rest: Buffer.alloc(0) }
    readers.push(reader)
    const socket = net.connect(port, host, () => socket.write(request))
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      if (reader.rest.length === 0 && reader.events === 0 && !chunk.subarray(0, 16).includes('200')) {
        reject(new Error(chunk.toString().split('\r\n')[0]))
      }
      resolve()
      take(reader, chunk)
    })
  })
}

function take(reader: Reader, chunk: Buffer): void {
  const text = reader.rest.length > 0 ? Buffer.concat([reader.rest, chunk]) : chunk
  const before = reader.events
  let at = text.indexOf(marker)
  let end = 0
  while (at >= 0) {
    reader.events++
    end = at + marker.length
    at = text.indexOf(marker, end)
  }
  reader.rest = Buffer.from(text.subarray(Math.max(end, text.length - marker.length + 1)))
  if (before < expected && reader.events >= expected && --behind === 0) report()
}

function report(): void {
  expected = Number.POSITIVE_INFINITY
  for (const reader of readers) reader.events = 0
  process.send?.('done')
}
