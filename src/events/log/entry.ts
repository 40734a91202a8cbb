// What topics hand to their followers: texts made once, and bytes made once for all who frame them alike.

/** One thing to tell: an event of the log, or the present value of a state. */
export interface Entry {
  /** Its number in the log; a state has none. */
  seq: bigint
  /** Null for a state, which is told whole each time and needs no resuming. */
  cursor: string | null
  /** The event's name, `message.sent`. */
  name: string
  /** JSON text, on one line. */
  body: string
}

/** How a door writes an entry as server-sent event. Followers that share the function share its bytes. */
export type Frame = (entry: Entry) => string

export interface Batch {
  entries: readonly Entry[]
  bytes: (frame: Frame) => Buffer
}

/** Texts of about this many UTF-16 units go into one write, at most three times as many bytes. */
const batchUnits = 256 * 1024
const batchEntries = 256

/** Cuts entries into batches small enough for an writer's bounds. */
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
