// One server-sent-event response: bounded in what it holds, cut when its reader stops reading.
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Principal } from '../../core/context.ts'

/** Why a stream ends from our side. */
export type Ending = 'revoked' | 'closing'

/** Whose stream it is: it ends with the credential, and with the membership in the team. */
export type Holder = Pick<Principal, 'kind' | 'userId' | 'credentialId' | 'teamId'>

export interface WriterOptions {
  /** Who opened it. */
  holder: Holder
  /** What to say when nothing was said for a while. */
  beat: () => string
  /** The last words. */
  farewell: (ending: Ending) => string
  /** Called once, however it ends. */
  closed: () => void
  /** Called when the reader was cut because it stopped reading. */
  stalled: () => void
}

const maxUnsentEvents = 256
const maxUnsentBytes = 1024 * 1024
const stallMs = 15_000

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Asks proxies not to collect what should be passed on at once.
  'x-accel-buffering': 'no',
}

/** Owns the response from {@link attach} on. Before that it holds nothing and counts as full. */
export class BoundedWriter {
  readonly holder: Holder
  closed = false
  readonly #options: WriterOptions
  #response: ServerResponse | undefined
  #writes = 0
  #events = 0
  #bytes = 0
  #waiting: (() => void)[] | undefined
  /** What had left this process when it was last looked at, and since when nothing more has. */
  #left = 0
  #stuckSince = 0

  constructor(options: WriterOptions) {
    this.#options = options
    this.holder = options.holder
  }

  /** Begins the response. */
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

  /** Whether so much more may be written without holding more than the bounds. One write may always be in flight. */
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

  /** Cuts a reader for whom something waits, and who has taken nothing for {@link stallMs}. To be called about once a second. */
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

  beat(): void {
    if (this.#response && this.#writes === 0) this.write(Buffer.from(this.#options.beat()), 0)
  }

  /** Says why, where there is room to, and ends. */
  leave(ending: Ending): void {
    this.end(this.fits(0, 0) ? this.#options.farewell(ending) : '')
  }

  /** Ends after what was written, and this text; the reader may still be reading. */
  end(text = ''): void {
    const response = this.#response
    if (response && !this.closed) {
      response.end(text)
      response.setTimeout(stallMs, () => response.destroy())
    }
    this.#close()
  }

  /** Resolves when the reader has everything or has gone; after the time given it is cut. */
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

/** The bytes that the kernel took. Only the handle knows how far it is inside a write; without it, whole writes count. */
function leftOf(socket: Socket | null | undefined): number {
  const handle = (socket as { _handle?: { bytesWritten?: number; writeQueueSize?: number } } | null | undefined)?._handle
  if (handle?.bytesWritten !== undefined && handle.writeQueueSize !== undefined)
    return handle.bytesWritten - handle.writeQueueSize
  return socket ? socket.bytesWritten - socket.writableLength : 0
}
