// The embedded database as a value: whoever needs it starts or joins it, and the last one out stops it.
// Who uses it is known to the database itself, by session locks that end with the process that took them.
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, freePort, openCluster } from './cluster.ts'
import { keptSecret, openDataDir } from './data-dir.ts'

export interface Embedded extends AsyncDisposable {
  url: string
  /** SECRET_KEY as kept in DATA_DIR. */
  secretKey: Buffer
}

export interface EmbeddedOptions {
  dataDir: string
  /** A gateway has its DATA_DIR to itself and restarts a database that dies; a command joins whatever runs. */
  as: 'gateway' | 'command'
  /** Told when the database died and when it is back. */
  onTrouble?: (message: string) => void
}

/** Held shared by all users, and for a moment alone by the one that stops the server. */
const inUse = 4_617_230_002
const oneGateway = 4_617_230_003
const startTimeoutMs = 60_000
const stopTimeoutMs = 4_000

/** @throws Error in one sentence, for example when another gateway has this DATA_DIR. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = await openDataDir(options.dataDir)
  const password = (await keptSecret(dataDir, 'database-password')).toString('hex')
  const secretKey = await keptSecret(dataDir, 'secret-key')
  const cluster = await openCluster({ dataDir, password })
  const place: Place = { cluster, dataDir, urlOf: (port) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres` }
  let { client, port } = await join(place, options.as)
  let closing = false
  let rejoining: Promise<void> | undefined

  async function rejoin(): Promise<void> {
    options.onTrouble?.('the embedded database went away; starting it again')
    // On the same port, where the pools look for it.
    client = (await join(place, options.as, port)).client
    watch()
    options.onTrouble?.('the embedded database is back')
  }
  function watch(): void {
    client.once('end', () => {
      // When that fails too, nobody can go on: an unhandled rejection ends the process.
      if (!closing) rejoining = rejoin()
    })
  }
  /** A process that ends without disposing of this does not leave the server behind. */
  const stopAtExit = () => signal(cluster, 'SIGINT')
  if (options.as === 'gateway') {
    watch()
    process.on('exit', stopAtExit)
  }

  return {
    url: place.urlOf(port),
    secretKey,
    async [Symbol.asyncDispose]() {
      closing = true
      await rejoining?.catch(() => {})
      process.off('exit', stopAtExit)
      await leave(cluster, client)
    },
  }
}

interface Place {
  cluster: Cluster
  dataDir: string
  urlOf: (port: number) => string
}

/** Connects, starting the server when none runs, and takes the locks. */
async function join(place: Place, as: EmbeddedOptions['as'], port?: number): Promise<{ client: pg.Client; port: number }> {
  const deadline = Date.now() + startTimeoutMs
  let failures = 0
  let last: Error | undefined
  while (Date.now() < deadline) {
    try {
      if (!place.cluster.running()) await place.cluster.start(port ?? (await freePort()))
    } catch (error) {
      // Of two that start at once the later one trips; it finds the other's server at the next turn. So does a taken port.
      if (++failures === 5) throw error
    }
    const found = place.cluster.running()
    const answer = found && (await connect(place.urlOf(found.port), as).catch((error: Error) => error))
    if (found && answer instanceof pg.Client && (await take(answer, as, place.dataDir))) {
      return { client: answer, port: found.port }
    }
    if (answer instanceof Error) last = answer
    await pause(50)
  }
  throw new Error(`The embedded database does not answer: ${last?.message}`, { cause: last })
}

async function connect(url: string, as: EmbeddedOptions['as']): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: `${as} ${process.pid}`, keepAlive: true })
  // A lost connection is told by 'end'.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** False when the server is about to be stopped by the last one that used it. */
async function take(client: pg.Client, as: EmbeddedOptions['as'], dataDir: string): Promise<boolean> {
  // One that was cut off in this very moment was stopped by the last one too.
  if (!(await lock(client, 'pg_try_advisory_lock_shared', inUse).catch(() => false))) {
    await client.end().catch(() => {})
    return false
  }
  if (as === 'command') return true
  // The database needs a moment to notice that the gateway before this one is gone.
  for (let tries = 0; tries < 15; tries++) {
    if (await lock(client, 'pg_try_advisory_lock', oneGateway)) return true
    await pause(100)
  }
  const { rows } = await client.query<{ name: string }>(
    `select application_name as name from pg_stat_activity where application_name like 'gateway %' and pid in
      (select pid from pg_locks where locktype = 'advisory' and granted and (classid::bigint << 32) + objid::bigint = $1)`,
    [oneGateway],
  )
  await client.end()
  const pid = rows[0]?.name.split(' ')[1] ?? 'unknown'
  throw new Error(`Another gateway (process ${pid}) already runs on ${dataDir}; stop it, or give this one a DATA_DIR of its own`)
}

async function lock(client: pg.Client, how: string, key: number): Promise<boolean> {
  const { rows } = await client.query<{ ok: boolean }>(`select ${how}($1) as ok`, [key])
  return rows[0]?.ok === true
}

/** Gives the locks back, and stops the server when nobody else holds any. */
async function leave(cluster: Cluster, client: pg.Client): Promise<void> {
  try {
    await client.query('select pg_advisory_unlock_all()')
    if (!(await lock(client, 'pg_try_advisory_lock', inUse))) return await client.end()
    await othersGone(client)
  } catch {
    // The connection is gone, and with it the locks and most likely the server.
    return
  }
  signal(cluster, 'SIGINT')
  const deadline = Date.now() + stopTimeoutMs
  while (cluster.running()) {
    if (Date.now() > deadline) return signal(cluster, 'SIGQUIT')
    await pause(20)
  }
}

/** Connections that were just closed need a moment to be gone; what is not gone in a second is cut off. */
async function othersGone(client: pg.Client): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    if (!rowCount) return
    await pause(20)
  }
}

/** SIGINT stops PostgreSQL at once and in order, SIGQUIT at once; it recovers from either. */
function signal(cluster: Cluster, name: 'SIGINT' | 'SIGQUIT'): void {
  const server = cluster.running()
  if (server) process.kill(server.pid, name)
}
