// The faults of a run: which ones, when, and for how long, all by a seed.
import { setTimeout as pause } from 'node:timers/promises'
import { pickFrom } from '../kit/random.ts'
import { until } from '../kit/until.ts'
import type { Cluster } from './cluster.ts'
import type { Front } from './front.ts'
import type { Node } from './nodes.ts'

export interface Target {
  nodes: readonly Node[]
  /** Undefined: clients call the nodes, which share a database that no fault reaches. */
  around: Around | undefined
}

export interface Around {
  front: Front
  cluster: Cluster
}

export interface Fault {
  name: string
  /** Milliseconds since 1970. */
  at: number
}

type Blow<On> = (target: On, random: () => number) => Promise<void>

/** A frozen process is unfrozen after up to this time. */
const longestFreezeMs = 15_000

/** Each ends with all programs running. */
const onNodes: Record<string, Blow<readonly Node[]>> = {
  async 'node killed'(nodes, random) {
    const node = pickFrom(nodes, random)
    await node.program.end('SIGKILL')
    await node.start()
  },
  async 'node frozen'(nodes, random) {
    const { program } = pickFrom(nodes, random)
    program.signal('SIGSTOP')
    await pause(longestFreezeMs * random())
    program.signal('SIGCONT')
  },
  async 'node stopped'(nodes, random) {
    const node = pickFrom(nodes, random)
    await node.program.end()
    await node.start()
  },
}

const onAround: Record<string, Blow<Around>> = {
  async 'primary killed'({ cluster }) {
    const lost = await cluster.primary()
    await lost.kill()
    await untilPromoted(cluster)
    lost.patroni.start()
    await untilWhole(cluster)
  },
  async 'primary frozen'({ cluster }, random) {
    const unfreeze = (await cluster.primary()).freeze()
    await pause(longestFreezeMs * random())
    unfreeze()
    await untilWhole(cluster)
  },
  async 'replica killed'({ cluster }, random) {
    const primary = await cluster.primary()
    const replicas = cluster.members.filter((member) => member !== primary)
    if (replicas.length === 0) return
    const lost = pickFrom(replicas, random)
    await lost.kill()
    lost.patroni.start()
    await untilWhole(cluster)
  },
  async 'etcd restarted'({ cluster }, random) {
    await cluster.etcd.end('SIGKILL')
    await pause(3_000 * random())
    cluster.etcd.start()
    await untilWhole(cluster)
  },
  async 'pgbouncer restarted'({ front }, random) {
    await front.pgbouncer.end('SIGKILL')
    await pause(2_000 * random())
    front.pgbouncer.start()
  },
  async 'haproxy restarted'({ front }, random) {
    await front.haproxy.end('SIGKILL')
    await pause(1_000 * random())
    front.haproxy.start()
  },
}

export const faultNames = [...Object.keys(onNodes), ...Object.keys(onAround)]

/** A member is promoted at the latest when the lease of the lost primary has expired. */
async function untilPromoted(cluster: Cluster): Promise<void> {
  await until(() => cluster.primary(), { timeoutMs: 90_000, everyMs: 200 })
}

/** Waits until one member is the primary and the others are its replicas. */
async function untilWhole(cluster: Cluster): Promise<void> {
  await until(
    async () => {
      const primary = await cluster.primary()
      const others = cluster.members.filter((member) => member !== primary)
      const answers = await Promise.all(others.map(({ restPort }) => fetch(`http://127.0.0.1:${restPort}/replica`)))
      return answers.every(({ ok }) => ok)
    },
    { timeoutMs: 120_000, everyMs: 200 },
  )
}

/** Strikes until the time is over. Only the faults named in `only`, if it is given. Returns what was done, in order. */
export async function strike(target: Target, random: () => number, untilMs: number, only?: readonly string[]): Promise<Fault[]> {
  const done: Fault[] = []
  const possible = Object.keys({ ...onNodes, ...(target.around && onAround) })
  const names = possible.filter((name) => only?.includes(name) ?? true)
  while (Date.now() < untilMs) {
    await pause(1_000 + 3_000 * random())
    const name = pickFrom(names, random)
    done.push({ name, at: Date.now() })
    console.log(`${new Date().toISOString()} ${name}`)
    await onNodes[name]?.(target.nodes, random)
    if (target.around) await onAround[name]?.(target.around, random)
  }
  return done
}
