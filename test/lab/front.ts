// The proxies of the lab: HAProxy before the gateways and before the primary, PgBouncer between the gateways and the primary.
import { limitingStatement } from '../../src/core/database/pooler.ts'
import { ownPort } from '../kit/port.ts'
import { until } from '../kit/until.ts'
import { askAt, type Cluster, password, urlAt } from './cluster.ts'
import { programs } from './need.ts'
import type { Place } from './place.ts'
import { createProgram, type Program } from './program.ts'

export interface Front {
  haproxy: Program
  pgbouncer: Program
  /** The address of the gateways for clients. */
  url: string
  /** The primary, through PgBouncer in transaction mode. */
  pooledUrl: string
  /** The primary, past PgBouncer. */
  directUrl: string
}

/** `nodePorts`: the ports of the gateways. */
export async function openFront(
  place: Place,
  parts: AsyncDisposableStack,
  cluster: Cluster,
  nodePorts: readonly number[],
): Promise<Front> {
  const [httpPort, databasePort, poolPort] = [await ownPort(), await ownPort(), await ownPort()]
  const haproxy = createProgram({
    name: 'haproxy',
    command: programs.haproxy,
    args: ['-db', '-f', place.write('haproxy.cfg', balancing(httpPort, databasePort, cluster, nodePorts))],
    folder: place.folder,
  })
  const pgbouncer = createProgram({
    name: 'pgbouncer',
    command: programs.pgbouncer,
    args: [place.write('pgbouncer.ini', pooling(poolPort, databasePort))],
    user: place.user,
    folder: place.folder,
  })
  for (const program of [haproxy, pgbouncer]) {
    parts.defer(() => program.end())
    program.start()
  }
  await until(() => /process up/.test(pgbouncer.log()))
  await until(() => askAt(databasePort, 'select').then(() => true))
  // HAProxy takes every member for the primary until its first check.
  await until(
    () =>
      haproxy.log().match(/Server primary\/\S+ is DOWN/g)?.length === cluster.members.length - 1 || cluster.members.length === 1,
  )
  return { haproxy, pgbouncer, url: `http://127.0.0.1:${httpPort}`, pooledUrl: urlAt(poolPort), directUrl: urlAt(databasePort) }
}

function balancing(httpPort: number, databasePort: number, { members }: Cluster, nodePorts: readonly number[]): string {
  return `
global
  maxconn 4000
defaults
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h
  default-server inter 500ms fall 2 rise 1
listen gateways
  mode http
  bind 127.0.0.1:${httpPort}
  balance roundrobin
  option httpchk GET /readyz
  option redispatch
  retries 2
  retry-on conn-failure
${nodePorts.map((port, n) => `  server node${n + 1} 127.0.0.1:${port} check`).join('\n')}
listen primary
  mode tcp
  bind 127.0.0.1:${databasePort}
  option httpchk OPTIONS /primary
${members.map(({ name, port, restPort }) => `  server ${name} 127.0.0.1:${port} check port ${restPort} on-marked-down shutdown-sessions`).join('\n')}
`
}

function pooling(poolPort: number, databasePort: number): string {
  return `
[databases]
postgres = host=127.0.0.1 port=${databasePort} dbname=postgres user=postgres password=${password} connect_query='${limitingStatement}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${poolPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
server_login_retry = 1
server_connect_timeout = 3
`
}
