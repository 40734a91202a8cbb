// A highly available PostgreSQL: members under Patroni, which keeps its state in etcd.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { withPool } from '../../src/core/database/short-pool.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { type Etcd, openEtcd } from './etcd.ts'
import { programs } from './need.ts'
import type { Place } from './place.ts'
import { createProgram, type Program } from './program.ts'

export interface Member {
  name: string
  port: number
  /** Port of Patroni's health checks. */
  restPort: number
  patroni: Program
  /** Kills the member as a lost machine: Patroni and its PostgreSQL at the same moment. */
  kill: () => Promise<void>
  /** Stops all of its processes, as a machine that hangs. Returns a function that lets them go on. */
  freeze: () => () => void
}

export interface Cluster {
  members: readonly Member[]
  etcd: Etcd
  /** @throws Error if no member is the primary. */
  primary: () => Promise<Member>
}

export const password = 'lab'
export const urlAt = (port: number) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres`

/** @throws Error if the connection is lost or refused. */
export async function connectAt(port: number): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: urlAt(port), connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs a statement on a connection of its own. @throws Error if that is lost or refused. */
export async function askAt(port: number, statement: string): Promise<void> {
  await withPool(urlAt(port), { max: 1 }, (pool) => pool.query(statement))
}

export async function openCluster(place: Place, parts: AsyncDisposableStack, size: number): Promise<Cluster> {
  const etcd = await openEtcd(place, parts, size >= 3 ? 3 : 1)
  const members: Member[] = []
  for (let n = 1; n <= size; n++) {
    const member = await createMember(place, `pg${n}`, etcd)
    parts.defer(() => member.patroni.end())
    members.push(member)
    member.patroni.start()
    // The first member creates the database; the others copy it.
    await until(async () => (await fetch(`http://127.0.0.1:${member.restPort}/${n === 1 ? 'primary' : 'replica'}`)).ok, {
      timeoutMs: 120_000,
      everyMs: 200,
    })
  }
  return {
    members,
    etcd,
    async primary() {
      for (const member of members) {
        const answer = await fetch(`http://127.0.0.1:${member.restPort}/primary`, { signal: AbortSignal.timeout(1_000) }).catch(
          () => null,
        )
        if (answer?.ok) return member
      }
      throw new Error('no member is the primary')
    },
  }
}

async function createMember(place: Place, name: string, etcd: Etcd): Promise<Member> {
  const [port, restPort] = [await ownPort(), await ownPort()]
  const data = path.join(place.makeFolder(name), 'data')
  const file = place.write(`${name}.json`, JSON.stringify(settingsOf({ place, name, port, restPort, etcd, data }), null, 2))
  const { folder, user } = place
  const patroni = createProgram({ name, command: programs.patroni, args: [file], user, cwd: '/', folder })
  const postmaster = () => Number(readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  const signalAll = (signal: NodeJS.Signals) => {
    patroni.signal(signal)
    // Its children end, or wait, with the postmaster's shared memory; a frozen postmaster alone would leave its sessions running.
    for (const pid of [postmaster(), ...childrenOf(postmaster())]) process.kill(pid, signal)
  }
  return {
    name,
    port,
    restPort,
    patroni,
    async kill() {
      signalAll('SIGKILL')
      await patroni.end('SIGKILL')
    },
    freeze() {
      signalAll('SIGSTOP')
      return () => signalAll('SIGCONT')
    },
  }
}

/** Ids of the processes that this one started (Linux). */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

interface MemberPlace {
  place: Place
  name: string
  port: number
  restPort: number
  etcd: Etcd
  data: string
}

/** Patroni's configuration. JSON is YAML. */
function settingsOf({ place, name, port, restPort, etcd, data }: MemberPlace): object {
  const dcs = {
    // The shortest that Patroni accepts: a lost primary is replaced after at most 20 s.
    ttl: 20,
    loop_wait: 2,
    retry_timeout: 5,
    // A primary whose PostgreSQL crashed gives way at once, and does not recover first.
    master_start_timeout: 0,
    synchronous_mode: true,
    postgresql: {
      use_pg_rewind: true,
      parameters: {
        timezone: 'Pacific/Auckland',
        max_connections: 200,
        max_wal_size: '1GB',
        wal_keep_size: '512MB',
        shared_buffers: '128MB',
      },
    },
  }
  return {
    scope: 'gateway',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: etcd.hosts },
    bootstrap: {
      dcs,
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: data,
      bin_dir: path.dirname(programs.postgres),
      pgpass: path.join(place.folder, name, 'pgpass'),
      parameters: { unix_socket_directories: path.join(place.folder, name) },
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
      },
    },
  }
}
