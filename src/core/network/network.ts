// The network of a client's address, by which anonymous requests are rate limited.
import ipaddr from 'ipaddr.js'

/**
 * Returns an IPv4 address as it is, also if it is written as IPv6 (`::ffff:192.0.2.1`). Returns the /64 of an IPv6 address,
 * because one subscriber usually gets a /64. Other text is returned unchanged.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const prefix = parsed.toByteArray().map((byte, i) => (i < 8 ? byte : 0))
  return `${ipaddr.fromByteArray(prefix).toString()}/64`
}
