// Where the bytes of media are kept, one file for each id: a folder, or a bucket.
import type { Readable } from 'node:stream'
import type { App } from '../core/app.ts'
import { openDisk } from './store-disk.ts'
import { openS3 } from './store-s3.ts'

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

declare module '../core/app.ts' {
  interface App {
    media: MediaStore
  }
}

/** @throws ConfigError where the store needs what is not installed. */
export function createMediaStore({ config, secrets }: Pick<App, 'config' | 'secrets'>): MediaStore {
  return config.s3 ? openS3(config.s3, secrets.s3Credentials) : openDisk(config.dataDir)
}
