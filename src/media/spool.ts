// Where uploads lie while they come: DATA_DIR/media/incoming, on this machine whatever the store.
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { newId } from '../core/id.ts'

/** The folder of uploaded files. */
export function mediaDir(dataDir: string): string {
  return path.join(dataDir, 'media')
}

/** A path for one upload. Whatever is there is removed when this is disposed of. */
export async function openSpool(dataDir: string): Promise<{ path: string } & AsyncDisposable> {
  const incoming = path.join(mediaDir(dataDir), 'incoming')
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  const file = path.join(incoming, newId())
  return { path: file, [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}

/** Longer than any upload may take. */
const leftForMs = 3_600_000

/** Removes what processes that died left of uploads; answers how much it was. */
export async function clearSpool(dataDir: string): Promise<number> {
  const incoming = path.join(mediaDir(dataDir), 'incoming')
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
