// Keeps the process alive when a call inside the package fails that the package does not await: a connection that closes, or our store
// that cannot be reached. Every other unhandled rejection ends the process, as it did before.
import type { Log } from '../../core/log.ts'
import { LeaseLost } from './leases.sql.ts'

/** The store of keys could not be read or written. */
export class StoreFault extends Error {}

const packages = /[\\/]node_modules[\\/](baileys|libsignal)[\\/]/
let done = false

/** True for a failure of one connection, which its session notices by itself. */
export function isPackageFault(reason: unknown): boolean {
  if (reason instanceof LeaseLost || reason instanceof StoreFault) return true
  if ((reason as { isBoom?: unknown } | null)?.isBoom === true) return true
  return reason instanceof Error && packages.test(reason.stack ?? '')
}

export function survivePackageFaults(log: Pick<Log, 'warn'>): void {
  if (done) return
  done = true
  process.on('unhandledRejection', (reason) => {
    if (isPackageFault(reason)) log.warn({ err: (reason as Error).message }, 'a call of the WhatsApp Web client failed')
    // Thrown outside of the promise, so that it ends the process as an exception.
    else if (process.listenerCount('unhandledRejection') === 1) setImmediate(() => rethrow(reason))
  })
}

function rethrow(reason: unknown): never {
  throw reason
}
