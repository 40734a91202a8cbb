// The network that a client's address belongs to: the unit by which anonymous requests are bounded.
import ipaddr from 'ipaddr.js'

/**
 * An IPv4 address as it is, also one that is written as IPv6 (`::ffff:192.0.2.1`); of an IPv6 address its /64, because one
 * subscriber is usually given that many. Text that is no address is its own network.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const prefix = parsed.toByteArray().map((byte, i) => (i < 8 ? byte : 0))
  return `${ipaddr.fromByteArray(prefix).toString()}/64`
}
