// A port for a server that listens later than its port is chosen, or goes and comes back.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'

/** Below those that the system gives whoever asks for any, so that nobody is given it meanwhile. */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    const server = net.createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
      server.close()
      await once(server, 'close')
      return port
    } catch {
      // Somebody has it.
    }
  }
}
