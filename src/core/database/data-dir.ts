// Small secrets that the embedded set-up makes once and keeps in DATA_DIR.
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'

/**
 * Makes the folder and returns its real path. Run by root, others may pass through it but not list it,
 * because PostgreSQL refuses to run as root and has to reach its own files inside.
 */
export async function openDataDir(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  return await realpath(dataDir)
}

/** 32 random bytes, made at the first call and the same ever after, in a file only its owner can read. */
export async function keptSecret(dataDir: string, name: string): Promise<Buffer> {
  const file = path.join(dataDir, name)
  const draft = `${file}.${process.pid}`
  try {
    return await readSecret(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  try {
    // Appears whole or not at all, and only once, when two processes start together.
    await link(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return await readSecret(file)
}

async function readSecret(file: string): Promise<Buffer> {
  const text = (await readFile(file, 'utf8')).trim()
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new Error(`${file} does not hold 32 bytes in hex; put the right ones back from a backup`)
  return Buffer.from(text, 'hex')
}
