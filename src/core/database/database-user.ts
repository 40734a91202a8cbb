// Who the embedded PostgreSQL runs as, because it refuses to run as root.
import { type ExecFileException, type ExecFileOptions, execFile } from 'node:child_process'
import { chownSync, statSync } from 'node:fs'
import path from 'node:path'

export interface DatabaseUser {
  /** Gives a file or folder to that user. */
  own: (place: string) => void
  /** Runs a program as that user and waits for its end. Throws with the line that says why, else the last that it wrote. */
  run: (command: string, args: readonly string[]) => Promise<void>
}

// Nothing of the gateway's own environment, which may hold secrets, goes to the database.
const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** Anyone but root runs it as who they are; root as the system's user `postgres`, who has to reach the places named. */
export async function databaseUser(places: readonly string[]): Promise<DatabaseUser> {
  if (process.getuid?.() !== 0) return { own: () => {}, run: (command, args) => run(command, args, {}) }
  const { uid, gid } = await systemUser()
  const own = (place: string) => chownSync(place, uid, gid)
  if (places.every((place) => mayPass(place, uid, gid))) {
    return { own, run: (command, args) => run(command, args, { uid, gid, cwd: '/' }) }
  }
  // A checkout below a folder that only root may enter, /root for example: the right to pass is lent to the server.
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--securebits=+no_setuid_fixup']
  const right = ['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`)
  return { own, run: (command, args) => run('setpriv', [...user, ...right, command, ...args], { cwd: '/' }) }
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
      `PostgreSQL does not run as root and no user "postgres" could be made (${why}); start as another user or set DATABASE_URL`,
    )
  }
}

async function lookUp(): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([output('id', ['-u', 'postgres'], {}), output('id', ['-g', 'postgres'], {})])
  return { uid: Number(uid), gid: Number(gid) }
}

/** Whether that user may enter the folder and all that are above it. */
function mayPass(place: string, uid: number, gid: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(place)
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001
  return (mode & bit) !== 0 && (path.dirname(place) === place || mayPass(path.dirname(place), uid, gid))
}

async function run(command: string, args: readonly string[], options: ExecFileOptions): Promise<void> {
  await output(command, args, { ...options, env })
}

async function output(command: string, args: readonly string[], options: ExecFileOptions): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile(command, args, { ...options, encoding: 'utf8' }, (error: ExecFileException | null, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const text = (stderr || stdout).trim()
      // PostgreSQL's programs say why first, and then how they clean up.
      const said = text.match(/(?:\w+: )?(?:FATAL|PANIC|error): .*/)?.[0] ?? text.split('\n').at(-1)
      reject(new Error(said || error.message))
    })
  })
}
