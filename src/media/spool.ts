// Where uploads lie while they come: DATA_DIR/media/incoming, on this machine whatever the store.
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { newId } from '../core/id.ts'

/** The folder of uploaded files. */
export function mediaDir(dataDir: string): string {
  return path.join(dataDir, 'media')
}

function incomingDir(dataDir: string): string {
  return path.join(mediaDir(dataDir), 'incoming')
}

/** @throws as the file system does where uploads cannot come in. */
export async function checkSpool(dataDir: string): Promise<void> {
  await checkWritable(incomingDir(dataDir))
}

/**
 * Makes a file in the folder and removes it. Where the folder is not there yet, the nearest one above it must take files:
 * whoever only looks makes no folder that would be theirs. @throws as the file system does.
 */
export async function checkWritable(folder: string): Promise<void> {
  let nearest = path.resolve(folder)
  while (!existsSync(nearest)) nearest = path.dirname(nearest)
  const probe = path.join(nearest, `.check-${newId()}`)
  try {
    await writeFile(probe, 'x')
  } finally {
    await rm(probe, { force: true }).catch(() => {})
  }
}

/** A path for one upload. Whatever is there is removed when this is disposed of. */
export async function openSpool(dataDir: string): Promise<{ path: string } & AsyncDisposable> {
  const incoming = incomingDir(dataDir)
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  const file = path.join(incoming, newId())
  return { path: file, [Symbol.asyncDispose]: () => rm(file, { force: true }) }
}

/** Longer than any upload may take. */
const leftForMs = 3_600_000

/** Removes what processes that died left of uploads; answers how much it was. */
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
