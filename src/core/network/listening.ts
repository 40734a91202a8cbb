// Derives from HOST the address at which this machine reaches the gateway, for commands that run without one.
import { lookup } from 'node:dns/promises'

/** The host of the address that the gateway prints when it is ready, as it stands in a URL. */
export async function hostToReach(host: string): Promise<string> {
  const { address } = await lookup(host)
  if (address === '0.0.0.0') return '127.0.0.1'
  if (address === '::') return 'localhost'
  return address.includes(':') ? `[${address}]` : address
}
