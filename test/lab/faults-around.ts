// Faults of what stands around the gateways: PostgreSQL, Patroni, etcd, PgBouncer, HAProxy and the bucket.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { pickFrom } from '../kit/random.ts'
import type { S3Server } from '../kit/s3-server.ts'
import { until } from '../kit/until.ts'
import { askAt, type Cluster, connectAt, type Member } from './cluster.ts'
import { type Blows, longestFreezeMs } from './faults-of-nodes.ts'
import type { Front } from './front.ts'

export interface Around {
  front: Front
  cluster: Cluster
}

export const faultsAround: Blows<Around & { bucket: S3Server; pool: pg.Pool }> = {
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
  /** Each flush of the write-ahead log takes 0.1 s longer, as on a slow disk. */
  async 'primary slow'({ cluster }, random) {
    const { port } = await cluster.primary()
    await delayFlushes(port, 100_000)
    await pause(longestFreezeMs * random())
    await delayFlushes(port, 0)
  },
  async 'replica killed'({ cluster }, random) {
    const lost = await replicaOf(cluster, random)
    await lost?.kill()
    lost?.patroni.start()
    await untilWhole(cluster)
  },
  /** A replica that confirms nothing holds every commit back, until Patroni lets another one confirm. */
  async 'replica frozen'({ cluster }, random) {
    const unfreeze = (await replicaOf(cluster, random))?.freeze()
    await pause(longestFreezeMs * random())
    unfreeze?.()
    await untilWhole(cluster)
  },
  async 'replica behind'({ cluster }, random) {
    const replica = await replicaOf(cluster, random)
    if (!replica) return
    await askAt(replica.port, 'select pg_wal_replay_pause()')
    await pause(longestFreezeMs * random())
    await askAt(replica.port, 'select pg_wal_replay_resume()')
  },
  async 'connections used up'({ cluster }, random) {
    const { port } = await cluster.primary()
    const taken = await takeConnections(port)
    await pause(5_000 * random())
    await Promise.all(taken.map((client) => client.end()))
  },
  async 'connections ended'({ pool }) {
    await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend'
      and pid <> pg_backend_pid()`)
  },
  async 'etcd restarted'({ cluster }, random) {
    await Promise.all(cluster.etcd.members.map((member) => member.end('SIGKILL')))
    await pause(3_000 * random())
    for (const member of cluster.etcd.members) member.start()
    await untilWhole(cluster)
  },
  async 'etcd member killed'({ cluster }, random) {
    const member = pickFrom(cluster.etcd.members, random)
    await member.end('SIGKILL')
    await pause(longestFreezeMs * random())
    member.start()
    await untilWhole(cluster)
  },
  async 'pgbouncer restarted'({ front }, random) {
    await front.pgbouncer.end('SIGKILL')
    await pause(2_000 * random())
    front.pgbouncer.start()
  },
  async 'bucket refuses'({ bucket }, random) {
    bucket.fails = 503
    await pause(longestFreezeMs * random())
    bucket.fails = undefined
  },
  async 'haproxy restarted'({ front }, random) {
    await front.haproxy.end('SIGKILL')
    await pause(1_000 * random())
    front.haproxy.start()
  },
}

/** One of the replicas; undefined if there is none. */
async function replicaOf(cluster: Cluster, random: () => number): Promise<Member | undefined> {
  const primary = await cluster.primary()
  const replicas = cluster.members.filter((member) => member !== primary)
  return replicas.length > 0 ? pickFrom(replicas, random) : undefined
}

/** The server holds the lock on its log for so many microseconds before it flushes it. */
async function delayFlushes(port: number, us: number): Promise<void> {
  await askAt(port, `alter system set commit_delay = ${us}`)
  await askAt(port, 'alter system set commit_siblings = 0')
  await askAt(port, 'select pg_reload_conf()')
}

/** Opens connections until PostgreSQL refuses one. */
async function takeConnections(port: number): Promise<pg.Client[]> {
  const taken: pg.Client[] = []
  for (;;) {
    try {
      taken.push(await connectAt(port))
    } catch {
      return taken
    }
  }
}

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
