// Proxies in front of the gateway: whose word is taken for a client's address, and which requests came through none.
import type { FastifyRequest, FastifyServerOptions } from 'fastify'
import ipaddr from 'ipaddr.js'
import { isWithin } from './address.ts'

/** How many proxies are in front, or who they are: addresses, CIDRs and the names of {@link proxyNames}; false for none. */
export type TrustProxy = false | number | readonly string[]

/** Fastify knows these by name. */
export const proxyNames = ['loopback', 'linklocal', 'uniquelocal']

/** Whether a text names proxies by address: an IP address, a CIDR that is not everybody, or one of {@link proxyNames}. */
export function isProxy(text: string): boolean {
  if (proxyNames.includes(text)) return true
  const [address = '', bits, ...more] = text.split('/')
  return (
    addressOf(address) !== undefined && more.length === 0 && (bits === undefined || (ipaddr.isValidCIDR(text) && bits !== '0'))
  )
}

/** For Fastify, whose `request.ip` is then the rightmost address that none of the trusted proxies has. */
export function trustOf(trust: TrustProxy): NonNullable<FastifyServerOptions['trustProxy']> {
  // Fastify itself trusts nobody for a number, because it cannot see who connects; an operator who gives one says that only proxies do.
  if (typeof trust === 'number') return (_, hop) => hop < trust
  return trust === false ? false : [...trust]
}

/**
 * Reduces `X-Forwarded-For` to the addresses on its right, without ports, up to the first entry that is none. Whatever stands there
 * and before it comes from a client, or from a proxy that knows no better, and never becomes somebody's address.
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

/** Some proxies write the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^\[([^\]]*)\](?::\d{1,5})?$|^([\d.]+):\d{1,5}$/.exec(entry) ?? []
  return v6 ?? v4 ?? entry
}

/** An address in its usual spelling, an IPv4-mapped one as IPv4; undefined for short or octal forms, zones, and anything else. */
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
 * Whether a program on this machine asks, and not somebody through a proxy on it: nothing in the headers tells of one, the request is
 * no HTTP/1.0, which proxies speak and clients do not any more, and it calls this machine by its own name, as a page of another
 * site does not. A proxy that hides all that cannot be told apart: behind one, nothing may depend on this alone.
 */
export function isFromHere({ headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>): boolean {
  if (!isWithin(raw.socket.remoteAddress ?? '', loopback) || raw.httpVersion === '1.0') return false
  if (Object.keys(headers).some((name) => tracesOfProxies.test(name))) return false
  return /^(localhost\.?|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(headers.host ?? '')
}
