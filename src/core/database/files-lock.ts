// Kernel lock on the files of the embedded PostgreSQL, which keeps a second server off them where process ids tell nothing: the server
// may run in another container, or on another machine that shares the folder.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** Another server has the files. */
export class FilesInUse extends Error {}

/** A lock of this process, and of every program that inherits `handle`, until the last of them has ended, in whatever way. */
export interface FileLock extends Disposable {
  handle: number
}

/**
 * Takes the lock without waiting. Undefined where the program `flock` or the file system has no locks; macOS has no such program, and no
 * containers either. @throws FilesInUse when another process holds the lock.
 */
export function lockFile(file: string): FileLock | undefined {
  const handle = openSync(file, 'a', 0o600)
  // Node has no function for this lock. The kernel keeps it for the open file, which `flock` inherits as number 3, and not for a process.
  const { status } = spawnSync('flock', ['-n', '3'], { stdio: ['ignore', 'ignore', 'ignore', handle] })
  if (status === 0) return { handle, [Symbol.dispose]: () => closeSync(handle) }
  closeSync(handle)
  if (status === 1) throw new FilesInUse('The embedded database does not start: another server uses its files')
  return undefined
}
