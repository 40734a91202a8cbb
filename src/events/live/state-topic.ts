// One distinct view of a changing value. Its current value is sent to every subscriber whenever it differs from the last one.
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../core/log.ts'
import type { BoundedWriter } from './bounded-writer.ts'
import { type Batch, batchOf, type Frame } from './entry.ts'

export interface StateSubscriber {
  writer: BoundedWriter
  frame: Frame
  /** Called after the last value, when the entity is gone. */
  ended: () => void
}

export interface StateTopicOptions {
  workspaceId: string
  /** Returns the current value as JSON text. A throw means a temporary failure. */
  render: () => Promise<{ body: string; ended: boolean }>
  log: Log
}

/**
 * Minimum pause between two reads in ms, and as a multiple of the read's duration. A busy subject thus costs a process at most ten
 * reads a second and a fifth of its time.
 */
const pauseMs = 100
const pauseShare = 4
const retryMs = 1_000

export class StateTopic {
  readonly workspaceId: string
  readonly #options: StateTopicOptions
  /** Each subscriber with the value it has. */
  readonly #subscribers = new Map<StateSubscriber, Batch | undefined>()
  readonly #waiting = new Set<StateSubscriber>()
  #value: { batch: Batch; ended: boolean } | undefined
  #stale = false
  #running = false

  constructor(options: StateTopicOptions) {
    this.#options = options
    this.workspaceId = options.workspaceId
  }

  get empty(): boolean {
    return this.#subscribers.size === 0
  }

  /** A read that begins after this call follows, so the subscriber misses no change. */
  add(subscriber: StateSubscriber): void {
    this.#subscribers.set(subscriber, undefined)
    this.invalidate()
  }

  remove(subscriber: StateSubscriber): void {
    this.#subscribers.delete(subscriber)
  }

  /** Reports that the value may have changed. */
  invalidate(): void {
    this.#stale = true
    if (!this.#running) void this.#run()
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#stale && !this.empty) {
      this.#stale = false
      const due = [...this.#subscribers.keys()]
      const begin = performance.now()
      try {
        const { body, ended } = await this.#options.render()
        if (body !== this.#value?.batch.entries[0]?.body) {
          this.#value = { batch: batchOf([{ seq: 0n, mark: undefined, cursor: null, name: 'state', body }]), ended }
          for (const subscriber of this.#subscribers.keys()) this.#tell(subscriber)
        } else {
          for (const subscriber of due) this.#tell(subscriber)
        }
        await pause(Math.max(pauseMs, pauseShare * (performance.now() - begin)), undefined, { ref: false })
      } catch (error) {
        this.#options.log.warn({ err: (error as Error).message }, 'a state could not be read for its subscribers; trying again')
        this.#stale = true
        await pause(retryMs, undefined, { ref: false })
      }
    }
    this.#running = false
  }

  /** Writes the newest value to a subscriber that lacks it. A slow client gets only the newest value once it is ready, not each one. */
  #tell(subscriber: StateSubscriber): void {
    const value = this.#value
    if (!value || !this.#subscribers.has(subscriber) || this.#subscribers.get(subscriber) === value.batch) return
    const bytes = value.batch.bytes(subscriber.frame)
    if (subscriber.writer.fits(1, bytes.length)) {
      subscriber.writer.write(bytes, 1)
      this.#subscribers.set(subscriber, value.batch)
      if (value.ended) subscriber.ended()
      return
    }
    if (this.#waiting.has(subscriber)) return
    this.#waiting.add(subscriber)
    void subscriber.writer.drained().then(() => {
      this.#waiting.delete(subscriber)
      if (!subscriber.writer.closed) this.#tell(subscriber)
    })
  }
}
