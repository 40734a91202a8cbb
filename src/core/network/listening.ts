// The address at which this machine reaches the gateway: that of a server which listens, and the one that HOST leads to.
import { lookup } from 'node:dns/promises'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'

/**
 * Listens on HOST. Resolves with `http://HOST:PORT`, which clients on this machine can open. `variable` is the one that sets the port.
 * @throws EADDRINUSE when the port is taken, and other listen errors.
 */
export async function listenOn(
  http: FastifyInstance,
  { host }: Pick<Config, 'host'>,
  { port, variable }: { port: number; variable: 'PORT' | 'HEALTH_PORT' },
): Promise<string> {
  const address = await http.listen({ port, host }).catch((error: Error) => {
    throw Object.assign(error, { variable })
  })
  // No browser opens `[::]`. This name leads to IPv4 and IPv6, whichever this machine has.
  return address.replace('//[::]:', '//localhost:')
}

/** The host of the address that the gateway prints when it is ready, as it stands in a URL. */
export async function hostToReach(host: string): Promise<string> {
  const { address } = await lookup(host)
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return 'localhost'
  return address.includes(':') ? `[${address}]` : address
}
