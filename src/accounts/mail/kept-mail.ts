// The folder of mails that were written to files, because there is no mail server: DATA_DIR/mail.
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { dayMs } from '../../core/durations.ts'

/** The links in mails are valid for a week at most. */
const keptMs = 7 * dayMs

function folderOf(dataDir: string): string {
  return path.join(dataDir, 'mail')
}

/** Writes a mail and returns the file. A mail of the same id is replaced. */
export async function keepMail(dataDir: string, id: string, text: string): Promise<string> {
  const folder = folderOf(dataDir)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const file = path.join(folder, `${id}.txt`)
  await writeFile(`${file}.part`, text, { mode: 0o600 })
  await rename(`${file}.part`, file)
  return file
}

/** Deletes the mails that are older than a week. Returns how many. */
export async function clearMail(dataDir: string, now = Date.now()): Promise<number> {
  const folder = folderOf(dataDir)
  let removed = 0
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name)
    const found = await stat(file).catch(() => undefined)
    if (!found?.isFile() || now - found.mtimeMs < keptMs) continue
    await rm(file, { force: true })
    removed++
  }
  return removed
}
