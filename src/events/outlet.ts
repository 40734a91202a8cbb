// One server-sent-event response: bounded in what it holds, cut when its reader stops reading.
import { once } from 'node:events'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** Why a stream ends from our side. */
export type Ending = 'revoked' | 'closing'

export interface OutletOptions {
  /** The key that opened it. */
  keyId: string
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
export class Outlet {
  readonly keyId: string
  closed = false
  readonly #options: OutletOptions
  #response: ServerResponse | undefined
  #writes = 0
  #events = 0
  #bytes = 0
  #waiting: (() => void)[] | undefined

  constructor(options: OutletOptions) {
    this.#options = options
    this.keyId = options.keyId
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
    // The socket's own timer knows progress inside a write, and our beat keeps it from running out on healthy readers.
    response.setTimeout(stallMs, () => {
      if (response.writableLength === 0) return
      this.#options.stalled()
      response.destroy()
    })
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

  /** Resolves when everything written has left this process, or when the outlet is closed. */
  async drained(): Promise<void> {
    if (this.closed || (this.#response && this.#writes === 0)) return
    await new Promise<void>((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
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
    if (!this.closed) this.#response?.end(text)
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
