// Tells if files can be written to a folder: by writing one.
import { existsSync } from 'node:fs'
import { rm, statfs, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { newId } from './id.ts'

/** PostgreSQL appends up to this much to a table at once. */
const probe = Buffer.alloc(64 * 1024)

/**
 * Creates a file in the folder and removes it. If the folder does not exist, the nearest existing parent must be writable: a check must
 * not create a folder, which would belong to the user who runs it.
 * @throws the error of the file system when the folder is not writable or its disk is full.
 */
export async function checkWritable(folder: string): Promise<void> {
  let nearest = path.resolve(folder)
  while (!existsSync(nearest)) nearest = path.dirname(nearest)
  const { blocks, bavail, bsize } = await statfs(nearest)
  // File systems keep a reserve for root. PostgreSQL does not run as root, and cannot use it.
  if (blocks > 0 && bavail * bsize < probe.length) {
    throw Object.assign(new Error(`ENOSPC: no space left on device, ${nearest}`), { code: 'ENOSPC', path: nearest })
  }
  const file = path.join(nearest, `.check-${newId()}`)
  try {
    await writeFile(file, probe)
  } finally {
    await rm(file, { force: true }).catch(() => {})
  }
}
