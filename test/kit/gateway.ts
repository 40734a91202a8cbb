// Runs the gateway as operators do: as a child process that is started, watched and killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { inject } from 'vitest'
import { atEnd } from './at-end.ts'
import { environment, node, root, secretKey } from './environment.ts'
import { hungMs } from './until.ts'

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A child process and every line that it wrote, stdout and stderr together. */
export interface Running {
  pid: number
  logs: string[]
  exited: Promise<Exit>
  /** Sends a signal: SIGKILL, SIGSTOP, SIGCONT, … */
  kill: (signal: NodeJS.Signals) => void
  /** Stops the process with SIGTERM; one that does not end within 15 s is killed, and the test fails. */
  stop: () => Promise<Exit>
  /** Waits for the first line that matches. @throws with all lines when the process ends without it. */
  line: (pattern: RegExp, timeoutMs?: number) => Promise<RegExpMatchArray>
}

export interface Gateway extends Running {
  /** `http://127.0.0.1:PORT`. */
  url: string
}

export interface GatewayOptions {
  /** A clone of the template or another database; by default the gateway starts an embedded one in `env.DATA_DIR`. */
  databaseUrl?: string
  /** Adds to the kit's variables, or overrides them. */
  env?: Record<string, string | undefined>
  /** The limit of open files and sockets; by default that of this process. */
  openFiles?: number
}

/** The time limit for a start, which may include creating a database: seconds on a quiet machine. */
export const startMs = 90_000

/** Starts a gateway and waits until it serves. It ends with the test, or with the file when no test runs. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = spawnGateway(options)
  const [, url] = await gateway.line(/^gateway ready on (http:\S+)$/, startMs)
  return Object.assign(gateway, { url: url as string })
}

/** Starts a gateway without waiting for it, for tests where it must refuse to start or runs no server. */
export function spawnGateway(options: GatewayOptions = {}): Running {
  const env = { ...environment, DATA_DIR: ownDataDir(), ...outsideDatabase(options.databaseUrl), ...options.env }
  const program = inject('program')
  const limited = ['-c', `ulimit -n ${options.openFiles} && exec "$0" "$1"`, node, program]
  const [command, args] = options.openFiles ? ['sh', limited] : [node, [program]]
  return watch(spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

let dataDir: string | undefined

/** The folder that a test file's gateways share, removed with the file. */
export function ownDataDir(): string {
  if (dataDir) return dataDir
  const made = mkdtempSync(path.join(os.tmpdir(), 'gateway-test-data-'))
  dataDir = made
  atEnd('file', async () => {
    // The files of a worker share this module.
    dataDir = undefined
    rmSync(made, { recursive: true, force: true })
  })
  return made
}

/** The two variables that must be set together. */
export function outsideDatabase(databaseUrl: string | undefined): Record<string, string> {
  return databaseUrl ? { DATABASE_URL: databaseUrl, SECRET_KEY: secretKey } : {}
}

/** Collects what a child process writes and waits for its end. */
export function watch(child: ChildProcess & { stdout: Readable; stderr: Readable }): Running {
  const logs: string[] = []
  const exited = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      logs.push(line)
      child.emit('line')
    })
  }
  const gone = () => child.exitCode !== null || child.signalCode !== null
  let silent = false
  const killAtExit = () => child.kill('SIGKILL')
  process.once('exit', killAtExit)
  void exited.then(() => {
    silent = true
    process.off('exit', killAtExit)
  })

  async function stop(): Promise<Exit> {
    if (!gone()) {
      // A stopped process handles no signal before SIGCONT.
      child.kill('SIGCONT')
      child.kill('SIGTERM')
    }
    const late = AbortSignal.timeout(15_000)
    late.addEventListener('abort', () => child.kill('SIGKILL'))
    const exit = await exited
    if (late.aborted) throw new Error(`The process did not stop in time:\n${logs.join('\n')}`)
    return exit
  }

  async function line(pattern: RegExp, timeoutMs = hungMs): Promise<RegExpMatchArray> {
    const signal = AbortSignal.timeout(timeoutMs)
    for (;;) {
      for (const text of logs) {
        const match = text.match(pattern)
        if (match) return match
      }
      // Its last lines may arrive after its exit event.
      if (silent || signal.aborted) throw new Error(`${pattern} was not written:\n${logs.join('\n')}`)
      await Promise.race([once(child, 'line', { signal }).catch(() => {}), exited])
    }
  }

  atEnd('test', async () => {
    await stop()
  })
  return { pid: child.pid as number, logs, exited, kill: (signal) => child.kill(signal), stop, line }
}
