// Trusted proxies in front of the gateway: finds the client's address, and detects requests that came through no proxy.
import type { FastifyRequest, FastifyServerOptions } from 'fastify'
import ipaddr from 'ipaddr.js'
import { isWithin } from './address.ts'

/** Number of proxies in front, or a list of their addresses, CIDRs and names ({@link proxyNames}); false for none. */
export type TrustProxy = false | number | readonly string[]

/** Names of address ranges that Fastify knows. */
export const proxyNames = ['loopback', 'linklocal', 'uniquelocal']

/** True if a text is an IP address, a CIDR other than /0, or one of {@link proxyNames}. */
export function isProxy(text: string): boolean {
  if (proxyNames.includes(text)) return true
  const [address = '', bits, ...more] = text.split('/')
  return (
    addressOf(address) !== undefined && more.length === 0 && (bits === undefined || (ipaddr.isValidCIDR(text) && bits !== '0'))
  )
}

/** Option for Fastify, whose `request.ip` is then the rightmost address that is not a trusted proxy. */
export function trustOf(trust: TrustProxy): NonNullable<FastifyServerOptions['trustProxy']> {
  // For a number, Fastify itself trusts nobody, because it cannot see who connects. An operator who sets a number states that
  // only proxies connect, so the hops are counted here.
  if (typeof trust === 'number') return (_, hop) => hop < trust
  return trust === false ? false : [...trust]
}

/**
 * Reduces `X-Forwarded-For` to the addresses on its right, without ports, up to the first entry that is not an address. That
 * entry and those before it come from a client, or from a proxy that did not check them, and never become a client's address.
 */
export function keepAddresses({ headers }: FastifyRequest['raw']): void {
  const given = headers['x-forwarded-for']
  if (given === undefined) return
  const kept: string[] = []
  for (const entry of String(given).split(',').reverse()) {
    const address = addressOf(withoutPort(entry.trim()))
    if (address === undefined) break
    kept.unshift(address)
  }
  headers['x-forwarded-for'] = kept.join(', ')
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^\[([^\]]*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(entry) ?? []
  return v6 ?? v4 ?? entry
}

/** Returns an address in canonical form, an IPv4-mapped one as IPv4; undefined for short or octal forms, zones, and anything else. */
function addressOf(text: string): string | undefined {
  const isAddress = text.includes(':')
    ? ipaddr.IPv6.isValid(text) && !text.includes('%')
    : ipaddr.IPv4.isValidFourPartDecimal(text)
  return isAddress ? ipaddr.process(text).toString() : undefined
}

const loopback = ['127.0.0.0/8', '::1/128']
const tracesOfProxies =
  /^(forwarded|via|x-forwarded|x-forwarded-.+|x-real-ip|x-client-ip|x-cluster-client-ip|true-client-ip|cf-connecting-ip|cdn-loop)$/

/**
 * True if a program on this machine sent the request, and not a proxy on this machine for a client elsewhere. No header may name
 * a proxy. The request must not be HTTP/1.0, which proxies speak and clients do not. The Host must be a name of this machine,
 * which a page of another site does not send (DNS rebinding). A proxy that hides all that cannot be detected: behind one, nothing
 * may depend on this check alone.
 */
export function isFromHere({ headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>): boolean {
  if (!isWithin(raw.socket.remoteAddress ?? '', loopback) || raw.httpVersion === '1.0') return false
  if (Object.keys(headers).some((name) => tracesOfProxies.test(name))) return false
  return /^(localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(headers.host ?? '')
}
