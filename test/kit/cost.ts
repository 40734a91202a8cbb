// Records the processor time of each test file in the file that TEST_COSTS names; costs.ts prints it. Linux only.
import { appendFileSync, readFileSync } from 'node:fs'

/** User and system time in ms of a process, and of its children that have ended. */
export interface Spent {
  own: number
  children: number
}

export interface Cost extends Spent {
  /** A test file, or a part of the run that all files share. */
  of: string
}

/** The clock of /proc has 100 ticks a second. */
const tickMs = 10

/** The processor time of a process since it started. */
export function spent(pid: number | 'self'): Spent {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name before the parenthesis may contain spaces.
  const times = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = times.map(Number)
  return { own: (user + system) * tickMs, children: (childUser + childSystem) * tickMs }
}

/** Records what this process spent since `before`, and returns what it has spent by now. */
export function recordSince(before: Spent | undefined, of: string): Spent | undefined {
  if (!process.env.TEST_COSTS) return undefined
  const now = spent('self')
  record({ of, own: now.own - (before?.own ?? 0), children: now.children - (before?.children ?? 0) })
  return now
}

/** Records what vitest's main process, the shared gateway and the shared database spent, given their pids. */
export function recordShared(gateway: number, database: number): void {
  if (!process.env.TEST_COSTS) return
  record({ of: 'vitest', own: spent('self').own, children: 0 })
  record({ of: 'the shared gateway', ...spent(gateway) })
  record({ of: 'the shared database', ...spentWithin(database) })
}

/** {@link spent}, where the children that still run count too: a database server, with its sessions. */
export function spentWithin(server: number): Spent {
  const running = readFileSync(`/proc/${server}/task/${server}/children`, 'utf8').split(' ').filter(Boolean)
  const { own, children } = spent(server)
  return { own, children: running.reduce((sum, child) => sum + ownOf(Number(child)), children) }
}

/** Nothing for a process that has just ended, whose time its parent counts by then. */
function ownOf(pid: number): number {
  try {
    return spent(pid).own
  } catch {
    return 0
  }
}

function record(cost: Cost): void {
  appendFileSync(process.env.TEST_COSTS as string, `${JSON.stringify(cost)}\n`)
}
