// Rules for the addresses and URLs that the gateway may be asked to reach (SSRF protection): pure, without DNS lookups.
import ipaddr from 'ipaddr.js'

/** `media` may use plain http on the public internet. `webhook` requires https; http is allowed only inside allowed networks. */
export type Purpose = 'media' | 'webhook'

const maxUrlLength = 2048
export const privateNetwork = 'must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS'
/** Unicast by the registry, but never a public server: IPv4-compatible addresses, Azure's metadata service. */
const alsoRefused = ['::/96', '168.63.129.16/32'].map((cidr) => ipaddr.parseCIDR(cidr))
const globalUnicast6 = ipaddr.parseCIDR('2000::/3')
const privateSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home.arpa']
/** Ports from 1024 on where databases, brokers and control planes listen; no receiver needs them. */
const refusedPorts = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6379, 6443, 8500, 9042, 9092, 9200,
  9300, 10250, 11211, 15672, 27017,
])

/** True if `address` lies in one of the networks `cidrs`; an IPv4-mapped address is tested as IPv4. */
export function isWithin(address: string, cidrs: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return cidrs.some((cidr) => matches(parsed, networkOf(cidr)))
}

/** The networks of the configuration and of this file. Parsing them for each webhook took 9 % of the processor time. */
const networks = new Map<string, [ipaddr.IPv4 | ipaddr.IPv6, number]>()

function networkOf(cidr: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const network = networks.get(cidr) ?? ipaddr.parseCIDR(cidr)
  networks.set(cidr, network)
  return network
}

/** True if the gateway may connect to `address`: it is public, or in an allowed network. */
export function isReachable(address: string, allowed: readonly string[]): boolean {
  return isPublic(address) || isWithin(address, allowed)
}

/** {@link isReachable} by that protocol (`http:` or `https:`), for the purpose: plain http reaches the public internet for `media` only. */
export function isReachableBy(protocol: string, address: string, allowed: readonly string[], purpose: Purpose): boolean {
  return purpose === 'webhook' && protocol === 'http:' ? isWithin(address, allowed) : isReachable(address, allowed)
}

function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || alsoRefused.some((range) => matches(parsed, range))) return false
  return parsed.kind() === 'ipv4' || matches(parsed, globalUnicast6)
}

function matches(address: ipaddr.IPv4 | ipaddr.IPv6, range: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  return address.kind() === range[0].kind() && address.match(range as [ipaddr.IPv4, number])
}

/** Returns the IP address that a URL's host consists of, or undefined for a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}

/** Returns the host of a URL in canonical form: an IPv4-mapped address as IPv4, a name in lower case and ASCII without the trailing dot. */
function hostOf({ hostname }: URL): string {
  const literal = literalOf(hostname)
  // The URL parser has normalized every other form of an IPv4 address, and names to lower case and ASCII.
  return literal === undefined ? hostname.replace(/\.+$/, '') : ipaddr.process(literal).toString()
}

/** Addresses of this machine; 0.0.0.0 and :: lead here too. */
const here = ['127.0.0.0/8', '::1/128', '0.0.0.0/32', '::/128']

/**
 * Returns the server that a URL leads to, in canonical form: the host, and the port unless it is 80 or 443. URLs with the same
 * result lead to the same server; every name of this machine becomes `localhost`.
 */
export function serverOf(url: URL): string {
  const host = hostOf(url)
  const isHere = host === 'localhost' || host.endsWith('.localhost') || isWithin(host, here)
  const port = url.port === '443' || url.port === '80' ? '' : url.port
  return `${isHere ? 'localhost' : host}:${port}`
}

/**
 * Validates an absolute URL before any lookup. `allowed` lists the private networks (CIDRs) that the configuration allows.
 * Returns the violated rule in words that follow a field's name, or undefined if the URL is valid.
 */
export function checkTarget(text: string, allowed: readonly string[], purpose: Purpose = 'media'): string | undefined {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`
  const kind = purpose === 'webhook' ? 'an absolute https URL' : 'an absolute http(s) URL'
  if (!isPlain(text)) return `must be ${kind}`
  const url = new URL(text)
  if (url.username || url.password) return 'must not contain a user name or password'
  if (url.hash && purpose === 'webhook') return 'must not have a fragment'
  const literal = literalOf(url.hostname)
  if (literal && isWithin(literal, allowed)) return undefined
  const name = hostOf(url)
  // A second trailing dot is an empty label and not another spelling of the name.
  if (url.hostname.endsWith('..') || !(literal || isName(name))) return `must be ${kind}`
  if (literal ? !isPublic(literal) : isPrivateName(name)) return privateNetwork
  if (purpose === 'webhook' && url.protocol === 'http:') {
    // The address of a name is checked at lookup, which allows http only to allowed networks.
    return allowed.length > 0 && !literal ? undefined : `must be ${kind}`
  }
  return checkPort(url)
}

/** The URL parser accepts missing slashes, backslashes, blanks and newlines; other parsers may read the same text differently. */
function isPlain(text: string): boolean {
  return /^https?:\/\/[^/?#]/i.test(text) && !/[\s\\\p{Cc}\p{Cs}]/u.test(text) && URL.canParse(text)
}

function isName(host: string): boolean {
  return host.length <= 253 && host.split('.').every((label) => label.length > 0 && label.length <= 63)
}

function isPrivateName(name: string): boolean {
  return !name.includes('.') || privateSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
}

function checkPort(url: URL): string | undefined {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const usual = port === (url.protocol === 'https:' ? 443 : 80)
  return usual || (port >= 1024 && !refusedPorts.has(port))
    ? undefined
    : 'must use the default port, or a port from 1024 on that no well-known service uses'
}
