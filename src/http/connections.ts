// Limits open connections per client address and in total, to keep file descriptors for the database, media and webhooks.
import { readFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { App } from '../core/app.ts'
import { networkOf } from '../core/network/network.ts'
import { createTally } from '../core/tally.ts'

/** Limit per client address: twenty times the streams that one person may have. */
const mostOfOneAddress = 1_000
/** Assumed limit of open files, if the system does not report one. */
const usualFiles = 10_000
const warnEveryMs = 60_000

export interface ConnectionBounds {
  total: number
  perAddress: number
  /** True if connections of this peer (an IP address) are counted. A proxy's are not. */
  isCounted: (address: string) => boolean
}

/** Applies the gateway's limits to the server, which may use that share of the open files; see {@link limitConnections}. */
export function boundConnections(server: Server, { config, log }: Pick<App, 'config' | 'log'>, shareOfFiles: number): void {
  const total = Math.floor((openFiles() ?? usualFiles) * shareOfFiles)
  const bounds = {
    total,
    perAddress: Math.min(mostOfOneAddress, Math.ceil(total / 4)),
    // Behind a proxy, all clients share one address. Loopback is exempt: a local program has other ways to do harm, and it may be a proxy.
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
 * Closes a connection at once if more than `total` are open, or more than `perAddress` from one address. An IPv6 /64 network counts as one
 * address. Calls `refused` with the address.
 */
export function limitConnections(server: Server, bounds: ConnectionBounds, refused: (address: string) => void): void {
  const open = createTally()
  server.maxConnections = bounds.total
  server.on('drop', (peer) => refused(peer?.remoteAddress ?? 'unknown'))
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || !bounds.isCounted(remoteAddress)) return
    const client = networkOf(remoteAddress)
    if (open.of(client) >= bounds.perAddress) {
      socket.destroy()
      return refused(remoteAddress)
    }
    open.add(client, 1)
    socket.once('close', () => open.add(client, -1))
  })
}

function isLoopback(address: string): boolean {
  return ipaddr.process(address).range() === 'loopback'
}

/** The soft limit of open files of this process, which Node raises to the hard limit at start. Undefined if /proc gives no number. */
function openFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
