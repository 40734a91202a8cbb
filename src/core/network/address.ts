// Which addresses and URLs the gateway may be asked to reach: pure rules, no look-up.
import ipaddr from 'ipaddr.js'

/** `media` may be plain http on the public internet; `webhook` is https, with http only inside allowed networks. */
export type Purpose = 'media' | 'webhook'

const maxUrlLength = 2048
export const privateNetwork = 'must not lead to a private network'
/** Unicast by the registry, and still nobody's public server: IPv4-compatible addresses, Azure's metadata. */
const alsoRefused = ['::/96', '168.63.129.16/32'].map((cidr) => ipaddr.parseCIDR(cidr))
const globalUnicast6 = ipaddr.parseCIDR('2000::/3')
const privateSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'lan', 'home.arpa']
/** Ports from 1024 on where databases, brokers and control planes listen, none of which a receiver needs. */
const refusedPorts = new Set([
  1433, 1521, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 4369, 5432, 5672, 5900, 5984, 6379, 6443, 8500, 9042, 9092, 9200,
  9300, 10250, 11211, 15672, 27017,
])

/** Whether `address` lies in one of the networks `cidrs`, an IPv4-mapped one by its IPv4 form. */
export function isWithin(address: string, cidrs: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return cidrs.some((cidr) => matches(parsed, ipaddr.parseCIDR(cidr)))
}

/** Whether the gateway may connect to `address`: public, or in an allowed network. */
export function isReachable(address: string, allowed: readonly string[]): boolean {
  return isPublic(address) || isWithin(address, allowed)
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

/** The address that a URL's host is written as, or undefined for a name. */
export function literalOf(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return ipaddr.isValid(bare) ? bare : undefined
}

/** The host of a URL in one spelling: an IPv4-mapped address as IPv4, a name in lower case and ASCII without the dot at its end. */
function hostOf({ hostname }: URL): string {
  const literal = literalOf(hostname)
  // The parser has read every other form of an IPv4 address, and written names in lower case and ASCII.
  return literal === undefined ? hostname.replace(/\.+$/, '') : ipaddr.process(literal).toString()
}

/** This machine, as it may be called by programs on it; 0.0.0.0 and :: lead here too. */
const here = ['127.0.0.0/8', '::1/128', '0.0.0.0/32', '::/128']

/**
 * The server that a URL leads to, in one spelling: the host, and the port where it is not a usual one. URLs with equal ones lead to
 * the same server; every name of this machine is `localhost`.
 */
export function serverOf(url: URL): string {
  const host = hostOf(url)
  const isHere = host === 'localhost' || host.endsWith('.localhost') || isWithin(host, here)
  const port = url.port === '443' || url.port === '80' ? '' : url.port
  return `${isHere ? 'localhost' : host}:${port}`
}

/**
 * Judges an absolute URL before anything is looked up, for the networks (CIDRs) that configuration allows.
 * Returns what it must be, in words that follow a field's name, or undefined where nothing is wrong.
 */
export function checkTarget(text: string, allowed: readonly string[], purpose: Purpose = 'media'): string | undefined {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`
  const kind = purpose === 'webhook' ? 'an absolute https URL' : 'an absolute http(s) URL'
  // The parser forgives missing slashes, backslashes, blanks and newlines; other readers of the same text may not agree.
  if (!/^https?:\/\/[^/?#]/i.test(text) || /[\s\\\p{Cc}\p{Cs}]/u.test(text) || !URL.canParse(text)) return `must be ${kind}`
  const url = new URL(text)
  if (url.username || url.password) return 'must not carry a user name or password'
  if (url.hash && purpose === 'webhook') return 'must not have a fragment'
  const literal = literalOf(url.hostname)
  if (literal && isWithin(literal, allowed)) return undefined
  const name = literal ? undefined : hostOf(url)
  // A second dot at the end is an empty label, not a spelling.
  if (url.hostname.endsWith('..')) return `must be ${kind}`
  if (name !== undefined && (name.length > 253 || name.split('.').some((label) => label.length === 0 || label.length > 63))) {
    return `must be ${kind}`
  }
  if (literal ? !isPublic(literal) : isPrivateName(name as string)) return privateNetwork
  if (purpose === 'webhook' && url.protocol === 'http:') {
    // What a name leads to is seen at the look-up, which lets http go to allowed networks only.
    return allowed.length > 0 && !literal ? undefined : `must be ${kind}`
  }
  return checkPort(url)
}

function isPrivateName(name: string): boolean {
  return !name.includes('.') || privateSuffixes.some((suffix) => name.endsWith(`.${suffix}`))
}

function checkPort(url: URL): string | undefined {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const usual = port === (url.protocol === 'https:' ? 443 : 80)
  return usual || (port >= 1024 && !refusedPorts.has(port))
    ? undefined
    : 'must use the usual port or one from 1024 on that no other service uses'
}
