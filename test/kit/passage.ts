// A way to a server that a test can cut.
import { once } from 'node:events'
import net from 'node:net'
import { atEnd } from './at-end.ts'

export interface Passage {
  port: number
  /** Ends the connections that are open. */
  cut: () => void
  /** Loses what they carry from here on, in both directions, and ends none. */
  silence: () => void
  /** Ends them, and refuses all further ones. */
  close: () => void
  /** How many connections were opened so far. */
  opened: () => number
  /**
   * The next request with this text is carried out, but its connection ends before the answer: with its first bytes, or with those that hold
   * `answered` if the request is one of several that travel together.
   */
  loseAnswer: (text: string, answered?: string) => void
}

/** A TCP proxy to `port` whose connections a test can cut. */
export async function openPassage(port: number): Promise<Passage> {
  const sockets = new Set<net.Socket>()
  let opened = 0
  let losing: { text: string; answered: string } | undefined
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
    socket.on('data', (request: Buffer) => {
      if (!losing || !request.includes(losing.text)) return
      const { answered } = losing
      losing = undefined
      onward
        .unpipe(socket)
        .on('data', (answer: Buffer) => void (answer.includes(answered) && socket.destroy()))
        .resume()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cut = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const silence = () => {
    for (const socket of sockets) socket.unpipe().resume()
  }
  const close = () => {
    server.close()
    cut()
  }
  const loseAnswer = (text: string, answered = '') => {
    losing = { text, answered }
  }
  atEnd('test', async () => close())
  return { port: (server.address() as net.AddressInfo).port, cut, silence, close, opened: () => opened, loseAnswer }
}
