// DATA_DIR, and the small secrets that the embedded set-up creates once and stores in it.
import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { syncFolder } from '../sync-folder.ts'

/**
 * Creates the folder and returns its real path. If root creates it, other users may enter the folder but not list it (0711),
 * because PostgreSQL refuses to run as root and must reach its own files inside. Otherwise only the owner may enter it (0700).
 */
export async function openDataDir(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  return await realpath(dataDir)
}

/**
 * Returns 32 random bytes, created by the first call and stored in a file that only its owner can read (0600). A power failure does not lose
 * them, as it loses nothing that they encrypt. @throws Error when the file holds something else.
 */
export async function keptSecret(dataDir: string, name: string): Promise<Buffer> {
  const file = path.join(dataDir, name)
  // Not by the id of the process: those of two containers often have the same one.
  const draft = `${file}.${randomUUID()}`
  try {
    return await readSecret(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  try {
    await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true })
    // The link is atomic: the file appears complete or not at all, and only once when two processes start together.
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(dataDir)
  return await readSecret(file)
}

async function readSecret(file: string): Promise<Buffer> {
  const text = (await readFile(file, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/i.test(text)) throw new Error(`${file} does not hold 32 bytes in hex; restore it from a backup`)
  return Buffer.from(text, 'hex')
}
