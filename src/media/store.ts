// The interface of the file store: one file for each id.
import type { Readable } from 'node:stream'

/** The bytes from `start` to `end`, both counted from 0 and in it. */
export interface ByteRange {
  start: number
  end: number
}

export interface MediaStore {
  /** Takes the file at `path`, which may be moved away; durable when it answers. */
  put: (id: string, path: string, size: number) => Promise<void>
  /** Opens a file, or undefined where it is missing. What it gives must be read or destroyed. */
  read: (id: string, range: ByteRange) => Promise<Readable | undefined>
  /** Removes a file; one that is not there is removed already. */
  remove: (id: string) => Promise<void>
  /** Tries what files need of it, and says where they go. @throws an Error that says in words what does not work. */
  check: () => Promise<string>
}
