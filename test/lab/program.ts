// The programs of the lab: started, killed, frozen and restarted by their process id. Each writes to a log file of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import path from 'node:path'

export interface ProgramOptions {
  /** Names its log file. */
  name: string
  command: string
  args: readonly string[]
  env?: Record<string, string>
  /** System user; that of this process by default. */
  user?: { uid: number; gid: number } | undefined
  cwd?: string
  folder: string
}

export interface Program {
  name: string
  /** Undefined while it does not run. */
  pid: () => number | undefined
  /** `more` adds to its environment, for this start only. */
  start: (more?: Record<string, string>) => void
  signal: (signal: NodeJS.Signals) => void
  /** Ends it and waits until it has ended. */
  end: (signal?: NodeJS.Signals) => Promise<void>
  /** All that it wrote. */
  log: () => string
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export function createProgram({ name, command, args, env = {}, user, cwd, folder }: ProgramOptions): Program {
  const logFile = path.join(folder, `${name}.log`)
  let child: ChildProcess | undefined
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  return {
    name,
    pid: () => (isRunning() ? child?.pid : undefined),
    start(more = {}) {
      const log = openSync(logFile, 'a')
      const base = { PATH: process.env.PATH ?? '', LC_ALL: 'C' }
      child = spawn(command, args, {
        env: { ...base, ...env, ...more },
        stdio: ['ignore', log, log],
        ...user,
        ...(cwd && { cwd }),
      })
      child.on('error', (error) => console.error(`${name}: ${error.message}`))
      const started = child
      running.add(started)
      started.once('exit', () => running.delete(started))
    },
    signal: (signal) => void child?.kill(signal),
    async end(signal = 'SIGTERM') {
      if (!child || !isRunning()) return
      const ended = once(child, 'exit')
      // A frozen process handles no signal but these two.
      child.kill('SIGCONT')
      child.kill(signal)
      const late = setTimeout(() => child?.kill('SIGKILL'), 15_000)
      await ended
      clearTimeout(late)
    },
    log: () => readFileSync(logFile, 'utf8'),
  }
}
