// System user that runs the embedded PostgreSQL, because PostgreSQL refuses to run as root.
import { type SpawnOptions, spawn } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import path from 'node:path'

export interface DatabaseUser {
  /** Makes that user the owner of a file or folder. */
  own: (place: string) => void
  /**
   * Runs a program as that user, to its end; it inherits the file `handle`. @throws Error with the line that gives the reason, else with the
   * last, when it fails.
   */
  run: (command: string, args: readonly string[], handle?: number) => Promise<void>
}

// The gateway's own environment may hold secrets, so the database does not get it.
const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** Programs run as the current user. If that is root, they run as the system user `postgres`, who must be able to enter `places`. */
export async function databaseUser(places: readonly string[]): Promise<DatabaseUser> {
  if (process.getuid?.() !== 0) return { own: () => {}, run: (command, args, handle) => run(command, args, { handle }) }
  const { uid, gid } = await systemUser()
  const own = (place: string) => chownSync(place, uid, gid)
  if (places.every((place) => mayPass(place, uid, gid))) {
    return { own, run: (command, args, handle) => run(command, args, { uid, gid, cwd: '/', handle }) }
  }
  // The checkout is below a folder that only root may enter, for example /root: setpriv grants the server CAP_DAC_OVERRIDE.
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--securebits=+no_setuid_fixup']
  const right = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`)
  return { own, run: (command, args, handle) => run('setpriv', [...user, ...right, command, ...args], { cwd: '/', handle }) }
}

async function systemUser(): Promise<{ uid: number; gid: number }> {
  const known = await lookUp().catch(() => undefined)
  if (known) return known
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], {})
    return await lookUp()
  } catch (error) {
    const why = (error as Error).message
    throw new Error(
      `PostgreSQL does not run as root and the user "postgres" could not be created (${why}); start as another user or set DATABASE_URL`,
    )
  }
}

async function lookUp(): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([output('id', ['-u', 'postgres'], {}), output('id', ['-g', 'postgres'], {})])
  return { uid: Number(uid), gid: Number(gid) }
}

/** True if that user may enter the folder and all its parents. */
function mayPass(place: string, uid: number, gid: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(place)
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
  return (mode & bit) !== 0 && (path.dirname(place) === place || mayPass(path.dirname(place), uid, gid))
}

interface RunOptions extends SpawnOptions {
  handle?: number | undefined
}

async function run(command: string, args: readonly string[], options: RunOptions): Promise<void> {
  await output(command, args, { ...options, env })
}

async function output(command: string, args: readonly string[], { handle, ...options }: RunOptions): Promise<string> {
  return await new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe', ...(handle ? [handle] : [])] })
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
      const said: Buffer[] = []
      stream?.on('data', (piece: Buffer) => said.push(piece))
      return () => Buffer.concat(said).toString()
    }) as [() => string, () => string]
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(stdout())
      const text = (stderr() || stdout()).trim()
      // PostgreSQL's programs print the reason first, and then how they clean up.
      const said = text.match(/(?:\w+: )?(?:FATAL|PANIC|error): .*/)?.[0] ?? text.split('\n').at(-1)
      reject(new Error(said || `${command} ended with ${signal ?? code}`))
    })
  })
}
