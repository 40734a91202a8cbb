// Writes log lines to standard output without waiting for it. Lines that cannot be written are lost, and the gateway goes on: the disk of a
// log fills up, a terminal is closed, a reader of a pipe ends. The stream of pino repeats such a write for ever and blocks the process.
import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** In characters. Further lines are lost while the reader does not read. */
const mostWaiting = 4_000_000
/** How long a full pipe gets, in milliseconds, before the next attempt, and how many attempts the end of the process makes. */
const pauseMs = 100
const lastAttempts = 10

interface Pending {
  lines: string[]
  length: number
  /** The part of the lines taken last that is not written yet. */
  rest: Buffer
  state: 'idle' | 'planned' | 'in flight'
  /** True if the last line was written in part only. */
  isTorn: boolean
}

let standardOutput: DestinationStream | undefined

/** Standard output. All logs of a process share it, so that their lines do not mix. */
export function logOutput(): DestinationStream {
  standardOutput ??= openLogOutput(1)
  return standardOutput
}

/** The last lines are written when the process exits. */
function openLogOutput(fd: number): DestinationStream {
  const pending: Pending = { lines: [], length: 0, rest: Buffer.alloc(0), state: 'idle', isTorn: false }

  /** Writes what has come up to then. Lines of one moment share a write. */
  function writeNext(): void {
    if (!take(pending)) {
      pending.state = 'idle'
      return
    }
    pending.state = 'in flight'
    write(fd, pending.rest, (error, written) => {
      pending.state = 'planned'
      if (isFull(error)) setTimeout(writeNext, pauseMs).unref()
      else {
        settle(pending, error, written)
        writeNext()
      }
    })
  }

  process.once('exit', () => writeLast(fd, pending))
  return {
    write(line) {
      if (pending.length + line.length > mostWaiting) return
      pending.lines.push(line)
      pending.length += line.length
      if (pending.state !== 'idle') return
      pending.state = 'planned'
      setImmediate(writeNext)
    },
  }
}

/** Writes the rest synchronously, without what another thread is writing. */
function writeLast(fd: number, pending: Pending): void {
  if (pending.state === 'in flight') pending.rest = Buffer.alloc(0)
  for (let attempts = 0; attempts < lastAttempts && take(pending); ) {
    try {
      settle(pending, null, writeSync(fd, pending.rest))
    } catch (error) {
      if (!isFull(error)) return
      attempts++
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
  }
}

/** Makes one buffer of the lines that wait, if the last one is written. Returns false if there is nothing to write. */
function take(pending: Pending): boolean {
  if (pending.rest.length === 0 && pending.lines.length > 0) {
    pending.rest = Buffer.from((pending.isTorn ? '\n' : '') + pending.lines.join(''))
    pending.lines = []
    pending.length = 0
  }
  return pending.rest.length > 0
}

/** Counts what was written; after an error the rest of the buffer is lost. */
function settle(pending: Pending, error: unknown, written: number): void {
  if (!error) pending.isTorn = pending.rest[written - 1] !== 10
  pending.rest = error ? Buffer.alloc(0) : pending.rest.subarray(written)
}

/** True if the reader of a pipe has not read what was written before. */
function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN'
}
