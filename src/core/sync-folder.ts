// Makes names in a folder durable.
import { open } from 'node:fs/promises'

/** A name that a file or folder has got is durable only after fsync of the folder that holds it. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder)
  await handle.sync()
}
