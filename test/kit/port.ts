// Chooses a port for a server that listens later, or stops and restarts.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import net from 'node:net'

/** A port below the ephemeral range, so that the system does not assign it to another process meanwhile. */
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
      // The port is in use.
    }
  }
}
