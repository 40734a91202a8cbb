// Times of the connections in one place, so that a test can shorten them.
import { definePart } from '../../core/part.ts'

export interface Timing {
  /** Duration of a lease. A process that ends without giving its leases back is replaced after it. */
  leaseMs: number
  /** Leases are extended this often. */
  heartbeatMs: number
  /** Poll interval of the wanted connections. */
  pollMs: number
  /** The same while no instance is to have a connection. */
  idlePollMs: number
  /** First delay before a connection is tried again. */
  reconnectMs: number
  /** An idle connection asks the network for a sign this often. It is lost after 5 s more without any. */
  keepAliveMs: number
  /** Time that each QR code is shown; the network's own where undefined. */
  qrMs: number | undefined
  /** Longest wait for the server's ack of a message. */
  ackMs: number
  /** Pause of an instance that the network asks to send less. */
  tooManyMs: number
}

export const timing = definePart<Timing>(() => ({
  leaseMs: 12_000,
  heartbeatMs: 3_000,
  pollMs: 1_000,
  idlePollMs: 3_000,
  reconnectMs: 2_000,
  keepAliveMs: 30_000,
  qrMs: undefined,
  ackMs: 6_000,
  tooManyMs: 60_000,
}))
