// Faults of the gateways' processes, and of the network between them and their database.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Sql } from '../../src/core/database/database.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { pickFrom } from '../kit/random.ts'
import { until } from '../kit/until.ts'
import type { Node } from './nodes.ts'

/** Each ends with all programs running. */
export type Blows<On> = Record<string, (target: On, random: () => number) => Promise<void>>

interface Nodes {
  nodes: readonly Node[]
  pool: pg.Pool
}

/** A process is frozen, or cut off, for up to this time. */
export const longestFreezeMs = 15_000
/** More than any lease. */
const aheadMs = 40_000

export const faultsOfNodes: Blows<Nodes> = {
  async 'node killed'({ nodes }, random) {
    const node = pickFrom(nodes, random)
    await node.program.end('SIGKILL')
    await node.start()
  },
  async 'node frozen'({ nodes }, random) {
    const { program } = pickFrom(nodes, random)
    program.signal('SIGSTOP')
    await pause(longestFreezeMs * random())
    program.signal('SIGCONT')
  },
  async 'node stopped'({ nodes }, random) {
    await restartInTurn([pickFrom(nodes, random)])
  },
  async 'node cut off'({ nodes }, random) {
    const node = pickFrom(nodes, random)
    const mend = node.cut()
    await pause(2 * longestFreezeMs * random())
    mend()
    await node.untilReady()
  },
  async 'clock ahead'({ nodes }, random) {
    const node = pickFrom(nodes, random)
    await node.program.end()
    await node.start(aheadMs)
  },
  /** A new version adds a column while one half of the nodes is old. */
  async 'rolling upgrade'({ nodes, pool }) {
    const half = Math.ceil(nodes.length / 2)
    await restartInTurn(nodes.slice(0, half))
    await migrate(pool, 'alter table messages add column if not exists lab integer')
    await restartInTurn(nodes.slice(half))
    await migrate(pool, 'alter table messages drop column lab')
  },
}

async function restartInTurn(nodes: readonly Node[]): Promise<void> {
  for (const { program, start } of nodes) {
    await program.end()
    await start()
  }
}

/** Tries until the table could be locked: a migration that waited longer would make every other statement wait behind it. */
async function migrate(pool: pg.Pool, statement: string): Promise<void> {
  const attempt = async (tx: Sql) => {
    await tx.query(`set local lock_timeout = '200ms'`)
    await tx.query(statement)
    return true
  }
  await until(() => sqlTransaction(pool, attempt, 1), { timeoutMs: 60_000, everyMs: 100 })
}
