// How many connections the HTTP server holds: for each client address, and in all, so that files stay free for the database, media and webhooks.
import { readFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { App } from '../core/app.ts'
import { networkOf } from '../core/network/network.ts'

/** Of one client address: twenty times the streams that one person may have. */
const mostOfOneAddress = 1_000
/** Where the system does not say how many files a process may have open. */
const usualFiles = 10_000
const warnEveryMs = 60_000

export interface ConnectionBounds {
  total: number
  perAddress: number
  /** Whether the connections of this peer (an IP address) are counted; a proxy's are not. */
  isCounted: (address: string) => boolean
}

/** Refuses connections beyond the bounds of this gateway; see {@link limitConnections}. */
export function boundConnections(server: Server, { config, log }: Pick<App, 'config' | 'log'>): void {
  const files = openFiles() ?? usualFiles
  const total = files - Math.ceil(files / 4)
  const bounds = {
    total,
    perAddress: Math.min(mostOfOneAddress, Math.ceil(total / 4)),
    // Everybody may come through one proxy. Programs on this machine need no connection to do harm, and a proxy may be one of them.
    isCounted: (address: string) => !config.trustProxy && !isLoopback(address),
  }
  let warnedAt = Number.NEGATIVE_INFINITY
  limitConnections(server, bounds, (peer) => {
    if (performance.now() - warnedAt < warnEveryMs) return
    warnedAt = performance.now()
    log.warn({ peer, total: bounds.total, perAddress: bounds.perAddress }, 'connections refused: too many are open')
  })
}

/**
 * Closes at once what comes beyond `total` connections, or beyond `perAddress` of one address; an IPv6 network of /64 counts as
 * one. `refused` is told the address.
 */
export function limitConnections(server: Server, bounds: ConnectionBounds, refused: (address: string) => void): void {
  const open = new Map<string, number>()
  server.maxConnections = bounds.total
  server.on('drop', (peer) => refused(peer?.remoteAddress ?? 'unknown'))
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || !bounds.isCounted(remoteAddress)) return
    const client = networkOf(remoteAddress)
    const count = open.get(client) ?? 0
    if (count >= bounds.perAddress) {
      socket.destroy()
      return refused(remoteAddress)
    }
    open.set(client, count + 1)
    socket.once('close', () => {
      const left = (open.get(client) ?? 1) - 1
      if (left > 0) open.set(client, left)
      else open.delete(client)
    })
  })
}

function isLoopback(address: string): boolean {
  return ipaddr.process(address).range() === 'loopback'
}

/** The soft limit of this process, which Node raises to the hard one as it starts; undefined where only the system knows. */
function openFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
