// Writes one server-sent-event response with a bounded buffer. Closes connections whose client stops reading (slow-read protection).
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Principal } from '../../core/principal.ts'

/** Reason for which the server ends a stream. */
export type Ending = 'revoked' | 'closing'

/** The owner of a stream. The stream ends with the credential, with the membership in the team, and when a manager becomes a collaborator. */
export type StreamOwner = Pick<Principal, 'kind' | 'userId' | 'credentialId' | 'teamId' | 'role'>

export interface WriterOptions {
  owner: StreamOwner
  /** Returns the heartbeat text. It is sent only while no write is pending. */
  heartbeat: () => string
  /** Returns the last text of the stream. */
  farewell: (ending: Ending) => string
  /** Called once, however the stream ends. */
  closed: () => void
  /** Called when the connection is cut because the client stopped reading. */
  stalled: () => void
}

const maxUnsentEvents = 256
const maxUnsentBytes = 1024 * 1024
const stallMs = 15_000

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Asks proxies not to buffer the response.
  'x-accel-buffering': 'no',
}

/** Owns the response from {@link attach} on. Before that it buffers nothing, and {@link fits} returns false. */
export class BoundedWriter {
  readonly owner: StreamOwner
  closed = false
  readonly #options: WriterOptions
  #response: ServerResponse | undefined
  #writes = 0
  #events = 0
  #bytes = 0
  #waiting: (() => void)[] | undefined
  /** Bytes that had left this process at the last progress check, and the time since which that number is unchanged. */
  #left = 0
  #stuckSince = 0

  constructor(options: WriterOptions) {
    this.#options = options
    this.owner = options.owner
  }

  /** Sends the headers and the first text. */
  attach(response: ServerResponse, headers: OutgoingHttpHeaders, hello: string): void {
    if (this.closed || response.destroyed) {
      this.#close()
      return
    }
    this.#response = response
    response.on('error', () => {})
    response.on('close', () => this.#close())
    response.writeHead(200, { ...headers, ...streamHeaders })
    this.write(Buffer.from(hello), 0)
  }

  /** True if this much more fits the buffer limits. With no write pending, any single write fits. */
  fits(events: number, bytes: number): boolean {
    if (!this.#response || this.closed) return false
    return this.#writes === 0 || (this.#events + events <= maxUnsentEvents && this.#bytes + bytes <= maxUnsentBytes)
  }

  write(bytes: Buffer, events: number): void {
    if (!this.#response || this.closed) return
    this.#writes++
    this.#events += events
    this.#bytes += bytes.length
    this.#response.write(bytes, this.#written)
  }

  readonly #written = (): void => {
    if (--this.#writes > 0) return
    this.#events = 0
    this.#bytes = 0
    this.#wake()
  }

  /** Resolves when everything written has left this process, or when the writer is closed. */
  async drained(): Promise<void> {
    if (this.closed || (this.#response && this.#writes === 0)) return
    await new Promise<void>((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
  }

  /** Cuts a client that has taken nothing of a pending write for {@link stallMs}. Call it about once a second. */
  checkProgress(now: number): void {
    if (this.#writes === 0) {
      this.#stuckSince = 0
      return
    }
    const left = leftOf(this.#response?.socket)
    if (this.#stuckSince === 0 || left !== this.#left) {
      this.#left = left
      this.#stuckSince = now
    } else if (now - this.#stuckSince >= stallMs) {
      this.#options.stalled()
      this.#response?.destroy()
    }
  }

  heartbeat(): void {
    if (this.#response && this.#writes === 0) this.write(Buffer.from(this.#options.heartbeat()), 0)
  }

  /** Sends the last text for `ending` if the buffer has capacity, and ends the response. */
  leave(ending: Ending): void {
    this.end(this.fits(0, 0) ? this.#options.farewell(ending) : '')
  }

  /** Ends the response after the pending writes and `text`. The connection is cut after {@link stallMs} without progress. */
  end(text = ''): void {
    const response = this.#response
    if (response && !this.closed) {
      response.end(text)
      response.setTimeout(stallMs, () => response.destroy())
    }
    this.#close()
  }

  /** Resolves when the client has received everything or disconnected. The connection is destroyed after `timeoutMs`. */
  async gone(timeoutMs: number): Promise<void> {
    const response = this.#response
    if (!response || response.closed) return
    await once(response, 'close', { signal: AbortSignal.timeout(timeoutMs) }).catch(() => response.destroy())
  }

  #close(): void {
    if (this.closed) return
    this.closed = true
    this.#wake()
    this.#options.closed()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    for (const resolve of waiting ?? []) resolve()
  }
}

/** Bytes that the kernel has taken. Only the socket handle shows progress within a write; without it, whole writes count. */
function leftOf(socket: Socket | null | undefined): number {
  const handle = (socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } } | null | undefined)?._handle
  if (handle?.bytesWritten !== undefined && handle.writeQueueSize !== undefined)
    return handle.bytesWritten - handle.writeQueueSize
  return socket ? socket.bytesWritten - socket.writableLength : 0
}
