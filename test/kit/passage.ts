// A way to a server that a test can cut.
import { once } from 'node:events'
import net from 'node:net'
import { atEnd } from './at-end.ts'

export interface Passage {
  port: number
  /** Ends the connections that are open. */
  cut: () => void
  /** Ends them, and refuses all further ones. */
  close: () => void
  /** How many connections were opened so far. */
  opened: () => number
}

/** A TCP proxy to `port` whose connections a test can cut. */
export async function openPassage(port: number): Promise<Passage> {
  const sockets = new Set<net.Socket>()
  let opened = 0
  const server = net.createServer((socket) => {
    opened++
    const onward = net.connect(port, '127.0.0.1')
    for (const [from, to] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {}).on('close', () => to.destroy())
      from.pipe(to)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const close = () => {
    server.close()
    cut()
  }
  atEnd('test', async () => close())
  return { port: (server.address() as net.AddressInfo).port, cut, close, opened: () => opened }
}
