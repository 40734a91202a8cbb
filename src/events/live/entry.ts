// Rendered output that topics pass to their subscribers. Each text is made once, and its bytes once per frame function.
import type { Marked } from '../log/cursor.ts'

/** One item to send: an event of the log, or the current value of a state, which has the number 0. */
export interface Entry extends Marked {
  /** Null for a state: each message holds the whole value, so a client has nothing to resume. */
  cursor: string | null
  /** Name of the event, for example `message.sent`. */
  name: string
  /** JSON text, on one line. */
  body: string
}

/** Formats an entry as a server-sent event. Subscribers with the same function share the encoded bytes. */
export type Frame = (entry: Entry) => string

export interface Batch {
  entries: readonly Entry[]
  bytes: (frame: Frame) => Buffer
}

/** Approximate size of one write in UTF-16 units. In UTF-8, it has at most three times as many bytes. */
const batchUnits = 256 * 1024
const batchEntries = 256

/** Splits entries into batches that fit the limits of a bounded writer. */
export function batchesOf(entries: readonly Entry[]): Batch[] {
  const batches: Batch[] = []
  let start = 0
  let units = 0
  for (const [at, { body }] of entries.entries()) {
    if (at > start && (units + body.length > batchUnits || at - start === batchEntries)) {
      batches.push(batchOf(entries.slice(start, at)))
      start = at
      units = 0
    }
    units += body.length
  }
  if (entries.length > 0) batches.push(batchOf(start === 0 ? entries : entries.slice(start)))
  return batches
}

export function batchOf(entries: readonly Entry[]): Batch {
  const made = new Map<Frame, Buffer>()
  return {
    entries,
    bytes(frame) {
      let bytes = made.get(frame)
      if (!bytes) {
        bytes = Buffer.from(entries.map(frame).join(''))
        made.set(frame, bytes)
      }
      return bytes
    },
  }
}
