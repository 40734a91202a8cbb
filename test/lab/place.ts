// The folder of one run, and the ports and system user of its programs.
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export interface Place extends Disposable {
  folder: string
  /** PostgreSQL and PgBouncer refuse to run as root; undefined if this is not root. */
  user: { uid: number; gid: number } | undefined
  /** Creates a folder that belongs to that user. */
  makeFolder: (name: string) => string
  /** Writes a file that belongs to that user; returns its path. */
  write: (name: string, text: string) => string
}

/** `keep`: the folder with its logs stays after the run. */
export function openPlace(keep: boolean): Place {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gateway-lab-'))
  chmodSync(folder, 0o755)
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined
  const own = (name: string) => {
    if (user) chownSync(name, user.uid, user.gid)
    return name
  }
  return {
    folder,
    user,
    makeFolder(name) {
      const made = path.join(folder, name)
      mkdirSync(made, { mode: 0o700 })
      return own(made)
    },
    write(name, text) {
      const file = path.join(folder, name)
      writeFileSync(file, text, { mode: 0o600 })
      return own(file)
    },
    [Symbol.dispose]() {
      if (!keep) rmSync(folder, { recursive: true, force: true })
    },
  }
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}
