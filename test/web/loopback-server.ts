// The address of the loopback network: sockets, and the script of the network's own client, which names its version.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export interface OpenServer {
  port: number
  /** Cuts all connections. */
  close: () => Promise<void>
}

/** Listens on that port, or on a free one if it is 0. */
export async function openServer(
  port: number,
  script: () => string,
  accept: (ws: WebSocket, path: string) => void,
): Promise<OpenServer> {
  const server = createServer((_, response) => void response.end(script()))
  const sockets = new WebSocketServer({ server })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  sockets.on('connection', (ws, { url = '' }) => accept(ws, url))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const client of sockets.clients) client.terminate()
      sockets.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
