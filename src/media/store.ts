// Interface of the media store: one file for each id.
import type { Readable } from 'node:stream'

/** The bytes from `start` to `end`, both zero-based and inclusive. */
export interface ByteRange {
  start: number
  end: number
}

export interface MediaStore {
  /** Stores the file at `path`, which may be moved away. It is durable when this resolves. */
  put: (id: string, path: string, size: number) => Promise<void>
  /** Opens a file; undefined when it is missing. The stream must be read or destroyed. */
  read: (id: string, range: ByteRange) => Promise<Readable | undefined>
  /** Removes a file. A missing file is not an error. */
  remove: (id: string) => Promise<void>
  /**
   * Tries the operations that files need, and returns a sentence that names the storage location.
   * @throws Error when one fails; the message is a sentence that says which.
   */
  check: () => Promise<string>
}
