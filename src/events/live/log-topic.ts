// One distinct view of the log. Each event is rendered once, and the same bytes are written to every live subscriber.
import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../core/log.ts'
import { type Marked, markedOf } from '../log/cursor.ts'
import { type EventFilter, type LogEvent, matches } from '../log/log.ts'
import type { BoundedWriter } from './bounded-writer.ts'
import { type Batch, batchesOf, batchOf, type Entry, type Frame } from './entry.ts'

export interface Subscriber {
  writer: BoundedWriter
  frame: Frame
  /** Every matching event up to this number has been written to the subscriber. */
  cursor: bigint
  /** The last event revealed to the client, or the start. */
  sent: Marked
}

export interface LogTopicOptions {
  workspaceId: string
  filter: EventFilter
  /**
   * Renders events to entries, in order. When all would be too large, it renders only the first ones, at least one. A throw means a
   * temporary failure.
   */
  render: (events: readonly LogEvent[]) => Promise<Entry[]>
  /** Reads matching events for subscribers that are behind: every one up to `reached`, or up to `upTo` if it is null. */
  read: (after: bigint, upTo: bigint, limit: number) => Promise<{ events: LogEvent[]; reached: bigint | null }>
  /** The number up to which the hub has passed on events. */
  head: () => bigint
  log: Log
}

interface Page {
  batches: Batch[]
  /** Every matching event up to this number is in the page. */
  reached: bigint
}

const pageSize = 100
/** Longest time for one batch of the hub, because all other topics of the process wait for it. */
const handOutMs = 2_000
/** The same until {@link afterLateMs} are over: a topic whose subscribers caught up in between would be late at each event. */
const handOutAgainMs = 100
/** For this long after a late rendering, subscribers that are behind read the log only. */
const afterLateMs = 30_000
const maxBackoffMs = 2_000
const maxTailEntries = 256
const maxTailUnits = 256 * 1024

/**
 * A subscriber is live or behind. Live subscribers get each new batch at once. A subscriber with a slow client, or one that resumes from the
 * past, is behind: it reads the log page by page at its own pace until it reaches the tail, a buffer of the newest entries. From the
 * tail it joins the live subscribers without a gap. No subscriber waits for another.
 */
export class LogTopic {
  readonly workspaceId: string
  readonly #options: LogTopicOptions
  readonly #live = new Set<Subscriber>()
  readonly #behind = new Set<Subscriber>()
  readonly #pages = new Map<bigint, Promise<Page>>()
  #tail: Entry[] = []
  #tailUnits = 0
  /** Every matching event above this number, up to the head, is in the tail. */
  #tailAfter: bigint
  /** Until then, nothing is rendered unless there is a live subscriber. */
  #lateUntil = 0
  /** The last workspace event that was passed to this topic, matching or not. */
  #lastOwn: Marked = { seq: 0n, mark: undefined }

  constructor(options: LogTopicOptions) {
    this.#options = options
    this.workspaceId = options.workspaceId
    this.#tailAfter = options.head()
  }

  get empty(): boolean {
    return this.#live.size + this.#behind.size === 0
  }

  add(subscriber: Subscriber): void {
    this.#fallBehind(subscriber)
  }

  remove(subscriber: Subscriber): void {
    this.#live.delete(subscriber)
    this.#behind.delete(subscriber)
  }

  /**
   * The last workspace event up to which the subscriber is complete. Undefined while it is behind: then its client resumes after the last
   * cursor it received. The head itself would reveal how much happens in other workspaces.
   */
  reachedBy(subscriber: Subscriber): Marked | undefined {
    if (!this.#live.has(subscriber)) return undefined
    return this.#lastOwn.seq > subscriber.sent.seq ? this.#lastOwn : subscriber.sent
  }

  /** Passes on new events, complete up to number `reached`. */
  async advance(events: readonly LogEvent[], reached: bigint): Promise<void> {
    await this.#handOut(events, reached)
    // Set after the write only. A heartbeat in between would report events that are not yet written.
    const last = events.at(-1)
    if (last) this.#lastOwn = markedOf(last)
  }

  async #handOut(events: readonly LogEvent[], reached: bigint): Promise<void> {
    const matching = events.filter((event) => matches(this.#options.filter, event))
    if (matching.length === 0) return
    const wasLate = performance.now() < this.#lateUntil
    if (wasLate && this.#live.size === 0) return this.#allFallBehind(reached)
    const limitMs = wasLate ? handOutAgainMs : handOutMs
    const timer = new AbortController()
    const late = pause(limitMs, undefined, { signal: timer.signal, ref: false }).then(tooLate)
    late.catch(() => {})
    const end = performance.now() + limitMs
    try {
      for (let sent = 0; sent < matching.length; ) {
        // The timer cannot fire while renderings wait for nothing.
        if (performance.now() >= end) tooLate()
        const entries = await Promise.race([this.#options.render(matching.slice(sent)), late])
        sent += entries.length
        for (const batch of batchesOf(entries)) for (const subscriber of this.#live) this.#hand(subscriber, batch)
        this.#keep(entries)
      }
    } catch (error) {
      const err = (error as Error).message
      const isLateAgain = wasLate && error instanceof Late
      if (!isLateAgain) this.#options.log.warn({ err }, 'a subscription is too slow for its group and reads the log separately')
      if (error instanceof Late && !wasLate) this.#lateUntil = performance.now() + afterLateMs
      this.#allFallBehind(reached)
    } finally {
      timer.abort()
    }
  }

  #hand(subscriber: Subscriber, batch: Batch): void {
    const first = batch.entries[0]?.seq ?? 0n
    const fresh = subscriber.cursor < first ? batch : batchOf(batch.entries.filter((entry) => entry.seq > subscriber.cursor))
    if (fresh.entries.length === 0) return
    const bytes = fresh.bytes(subscriber.frame)
    if (subscriber.writer.fits(fresh.entries.length, bytes.length)) {
      write(subscriber, fresh, bytes)
    } else {
      this.#fallBehind(subscriber)
    }
  }

  /** Empties the tail, so that every subscriber reads the log itself. */
  #allFallBehind(reached: bigint): void {
    this.#tail = []
    this.#tailUnits = 0
    this.#tailAfter = reached
    for (const subscriber of [...this.#live]) this.#fallBehind(subscriber)
  }

  #keep(entries: readonly Entry[]): void {
    this.#tail.push(...entries)
    for (const { body } of entries) this.#tailUnits += body.length
    let excess = 0
    while (this.#tail.length - excess > maxTailEntries || (this.#tailUnits > maxTailUnits && excess < this.#tail.length)) {
      const entry = this.#tail[excess++] as Entry
      this.#tailUnits -= entry.body.length
      this.#tailAfter = entry.seq
    }
    if (excess > 0) this.#tail.splice(0, excess)
  }

  #fallBehind(subscriber: Subscriber): void {
    // A live subscriber has everything up to the head, which advances only after every topic has passed on its batch.
    if (this.#live.delete(subscriber)) subscriber.cursor = later(subscriber.cursor, this.#options.head())
    this.#behind.add(subscriber)
    void this.#catchUp(subscriber)
  }

  async #catchUp(subscriber: Subscriber): Promise<void> {
    const { writer } = subscriber
    for (let failures = 0; ; ) {
      await writer.drained()
      if (writer.closed || !this.#behind.has(subscriber)) return
      if (subscriber.cursor >= this.#tailAfter) {
        if (this.#join(subscriber)) return
        continue
      }
      try {
        const page = await this.#page(subscriber.cursor)
        if (!(await this.#write(subscriber, page))) return
        failures = 0
      } catch (error) {
        this.#options.log.warn({ err: (error as Error).message }, 'the log could not be read for a subscriber; trying again')
        await pause(Math.min(100 * 2 ** failures++, maxBackoffMs), undefined, { ref: false })
      }
    }
  }

  /** Writes the subscriber's part of the tail and makes it live, synchronously. Returns false when its writer fills up on the way. */
  #join(subscriber: Subscriber): boolean {
    const { writer, frame } = subscriber
    for (const batch of batchesOf(this.#tail.filter((entry) => entry.seq > subscriber.cursor))) {
      const bytes = batch.bytes(frame)
      if (!writer.fits(batch.entries.length, bytes.length)) return false
      write(subscriber, batch, bytes)
    }
    this.#behind.delete(subscriber)
    this.#live.add(subscriber)
    return true
  }

  /** Returns false when the writer is closed or the subscriber was removed. */
  async #write(subscriber: Subscriber, page: Page): Promise<boolean> {
    for (const batch of page.batches) {
      await subscriber.writer.drained()
      if (subscriber.writer.closed || !this.#behind.has(subscriber)) return false
      write(subscriber, batch, batch.bytes(subscriber.frame))
    }
    subscriber.cursor = later(subscriber.cursor, page.reached)
    return true
  }

  /** Subscribers at the same position share one read. */
  async #page(after: bigint): Promise<Page> {
    const page = this.#pages.get(after) ?? this.#read(after).finally(() => this.#pages.delete(after))
    this.#pages.set(after, page)
    return await page
  }

  async #read(after: bigint): Promise<Page> {
    const upTo = later(this.#options.head(), this.#tailAfter)
    const { events, reached } = await this.#options.read(after, upTo, pageSize)
    const entries = events.length > 0 ? await this.#options.render(events) : []
    const isAll = entries.length === events.length
    return { batches: batchesOf(entries), reached: (isAll ? reached : entries.at(-1)?.seq) ?? upTo }
  }
}

function write(subscriber: Subscriber, { entries }: Batch, bytes: Buffer): void {
  subscriber.writer.write(bytes, entries.length)
  const { seq, mark } = entries.at(-1) as Entry
  subscriber.cursor = seq
  subscriber.sent = { seq, mark }
}

class Late extends Error {}

function tooLate(): never {
  throw new Late('rendering takes too long')
}

function later(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
