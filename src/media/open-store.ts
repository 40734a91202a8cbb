// Opens the file store that the configuration names: a folder or an S3 bucket.
import type { App } from '../core/app.ts'
import { definePart } from '../core/part.ts'
import type { MediaStore } from './store.ts'
import { openDisk } from './store-disk.ts'
import { openS3 } from './store-s3.ts'

export const mediaStore = definePart(createMediaStore)

/** @throws ConfigError when the store needs packages that are not installed. */
export function createMediaStore({ config, secrets }: Pick<App, 'config' | 'secrets'>): MediaStore {
  return config.s3 ? openS3(config.s3, secrets.s3Credentials) : openDisk(config.dataDir)
}
