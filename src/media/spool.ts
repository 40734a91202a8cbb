// Temporary files of uploads in progress: DATA_DIR/media/incoming, on this machine whatever the store.
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { hourMs } from '../core/durations.ts'
import { newId } from '../core/id.ts'
import { checkWritable } from '../core/writable.ts'

/** The folder of uploaded files. */
export function mediaDir(dataDir: string): string {
  return path.join(dataDir, 'media')
}

function incomingDir(dataDir: string): string {
  return path.join(mediaDir(dataDir), 'incoming')
}

/** @throws the error of the file system when uploads cannot be saved. */
export async function checkSpool(dataDir: string): Promise<void> {
  await checkWritable(incomingDir(dataDir))
}

/** Returns a path for one upload. On disposal, the file there is removed. */
export async function openSpool(dataDir: string): Promise<{ path: string } & AsyncDisposable> {
  const incoming = incomingDir(dataDir)
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  const file = path.join(incoming, newId())
  return { path: file, [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}

/** Longer than any upload may take. */
const leftForMs = hourMs

/** Removes uploads that dead processes left behind. Returns their number. */
export async function clearSpool(dataDir: string): Promise<number> {
  const incoming = incomingDir(dataDir)
  const files = await readdir(incoming).catch(() => [])
  let removed = 0
  for (const name of files) {
    const file = path.join(incoming, name)
    const found = await stat(file).catch(() => undefined)
    if (!found || Date.now() - found.mtimeMs < leftForMs) continue
    await rm(file, { force: true })
    removed++
  }
  return removed
}
