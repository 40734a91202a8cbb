// The writers of the streams of this process: each gets heartbeats, and ends when its client stops reading or its credential is revoked.
import type { App } from '../../core/app.ts'
import { BoundedWriter, type WriterOptions } from './bounded-writer.ts'
import { startRevocation } from './revocation.ts'

export interface Writers extends AsyncDisposable {
  make: (options: Omit<WriterOptions, 'stalled'>) => BoundedWriter
  /** Ends all streams. Their clients resume on a new connection. */
  leaveAll: () => void
}

/** A stream is never silent for longer, unless its reader is slow. */
const heartbeatMs = 10_000
const sweepMs = 1_000
const closingMs = 2_000

/** Disposal ends all streams, and waits until their clients have received everything, for {@link closingMs} at most. */
export function startWriters(app: App): Writers {
  const writers = new Set<BoundedWriter>()
  const revocation = startRevocation(app, writers)
  const heartbeats = setInterval(() => {
    for (const writer of writers) writer.heartbeat()
  }, heartbeatMs)
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const writer of writers) writer.checkProgress(now)
  }, sweepMs)

  function leaveAll(): void {
    for (const writer of writers) writer.leave('closing')
  }

  return {
    make(options) {
      const writer = new BoundedWriter({
        ...options,
        closed() {
          writers.delete(writer)
          options.closed()
        },
        stalled: () => app.metrics.stalledStreams.inc(),
      })
      writers.add(writer)
      return writer
    },
    leaveAll,
    async [Symbol.asyncDispose]() {
      clearInterval(heartbeats)
      clearInterval(sweep)
      const open = [...writers]
      leaveAll()
      await Promise.all([...open.map((writer) => writer.gone(closingMs)), revocation[Symbol.asyncDispose]()])
    },
  }
}
