// Embedded database, reference counted: a process that needs it starts or joins it, and the last one to leave stops it.
// The database itself knows its users by session-level advisory locks, which end with the process that took them.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { type Cluster, freePort, openCluster } from './cluster.ts'
import { keptSecret, openDataDir } from './data-dir.ts'
import { FilesInUse } from './files-lock.ts'
import { onInterruption } from './interruption.ts'

export interface Embedded extends AsyncDisposable {
  url: string
  /** SECRET_KEY as stored in DATA_DIR. */
  secretKey: Buffer
}

export interface EmbeddedOptions {
  dataDir: string
  /** A gateway needs its DATA_DIR for itself and restarts a database that dies. A command joins a running server or starts one. */
  as: 'gateway' | 'command'
  /** Called when the database has died and when it is back, and once a minute while it recovers. */
  onTrouble?: (message: string) => void
}

/** Advisory lock: all users hold it shared; the one that stops the server holds it exclusively. */
const inUse = 4_617_230_002
const oneGateway = 4_617_230_003
/** How long a start waits for a server that does not answer. One that answers that it recovers gets as long as it takes. */
const startTimeoutMs = 60_000
const stopTimeoutMs = 4_000
/** A server of this container that starts or stops holds its files for less, and so does one of a container that was just killed. */
const filesFreeMs = 10_000

/** @throws Error in one sentence when the database cannot be used, for example because another gateway has this DATA_DIR. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = await openDataDir(options.dataDir)
  // The password is made before the files, so this cannot be a first start of two processes.
  if (existsSync(path.join(dataDir, 'postgres/PG_VERSION')) && !existsSync(path.join(dataDir, 'database-password')))
    throw notOurs(dataDir)
  const password = (await keptSecret(dataDir, 'database-password')).toString('hex')
  const secretKey = await keptSecret(dataDir, 'secret-key')
  const cluster = await openCluster({ dataDir, password })
  const place: Place = { cluster, dataDir, urlOf: (port) => `postgres://postgres:${password}@127.0.0.1:${port}/postgres` }
  const joining = join(place, options)
  // A gateway stops by a way of its own.
  const forget = options.as === 'command' ? onInterruption(async () => abandon(cluster, (await joining).client)) : () => {}
  let { client, port } = await joining.catch((error: Error) => {
    forget()
    throw error
  })
  let closing = false
  let rejoining: Promise<void> | undefined

  async function rejoin(): Promise<void> {
    options.onTrouble?.('the embedded database has stopped; starting it again')
    const joined = await join(place, options, port)
    // The pools reconnect to the same port.
    if (joined.port !== port) throw new Error(`the embedded database runs on port ${joined.port} and no longer on ${port}`)
    client = joined.client
    watch()
    options.onTrouble?.('the embedded database is back')
  }
  function watch(): void {
    client.once('end', () => {
      // If this fails too, the gateway cannot go on: the unhandled rejection ends the process.
      if (!closing) rejoining = rejoin()
    })
  }
  /** Stops the server if the process ends without disposing of this object. */
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
      forget()
    },
  }
}

interface Place {
  cluster: Cluster
  dataDir: string
  urlOf: (port: number) => string
}

/** Connects to the server of this place; undefined if none runs. */
async function connectTo(place: Place, as: EmbeddedOptions['as']): Promise<{ client: pg.Client; port: number } | undefined> {
  const found = place.cluster.running()
  return found && { client: await connect(place.urlOf(found.port), as), port: found.port }
}

/** Connects, starts the server if none runs, and takes the advisory locks. */
async function join(
  place: Place,
  { as, onTrouble }: EmbeddedOptions,
  port?: number,
): Promise<{ client: pg.Client; port: number }> {
  const starting: Starting = { since: Date.now(), failures: 0, isDone: false }
  let deadline = starting.since + startTimeoutMs
  let last: Error | undefined
  for (;;) {
    if (!place.cluster.running()) await tryToStart(place, starting, port)
    const answer = await connectTo(place, as).catch((error: Error) => error)
    if (answer && !(answer instanceof Error) && (await take(answer.client, as, place.dataDir))) return answer
    if (answer instanceof Error) last = answer
    if (hasCode(last, '28P01')) {
      if (starting.isDone) signal(place.cluster, 'SIGINT')
      throw notOurs(place.dataDir)
    }
    if (Date.now() > deadline) {
      // cannot_connect_now: it starts or recovers.
      if (!hasCode(last, '57P03')) throw new Error(`The embedded database does not answer: ${last?.message}`, { cause: last })
      onTrouble?.('the embedded database recovers from a crash; still waiting for it')
      deadline = Date.now() + startTimeoutMs
    }
    await pause(50)
  }
}

interface Starting {
  since: number
  failures: number
  /** True if this process has started the server. */
  isDone: boolean
}

/** @throws Error when it fails for the fifth time, or when the files stay in use. */
async function tryToStart(place: Place, starting: Starting, port?: number): Promise<void> {
  try {
    // A command may be first to start a server that crashed. The pools of a gateway connect to the port that it had.
    await place.cluster.start(port ?? place.cluster.portBefore() ?? (await freePort()))
    starting.isDone = true
  } catch (error) {
    // If two processes start at once, the later start fails, and its next iteration finds the other's server. A taken port is
    // handled in the same way.
    if (!(error instanceof FilesInUse)) starting.failures++
    else if (Date.now() > starting.since + filesFreeMs) throw inUseElsewhere(place.dataDir)
    if (starting.failures === 5) throw error
  }
}

function hasCode(error: Error | undefined, code: string): boolean {
  return error instanceof pg.DatabaseError && error.code === code
}

function notOurs(dataDir: string): Error {
  return new Error(
    `${dataDir}/database-password is missing, or does not hold the password of the database beside it; restore both from the same backup, or set another DATA_DIR`,
  )
}

function inUseElsewhere(dataDir: string): Error {
  return new Error(
    `A gateway or command in another container or on another machine uses the database in ${dataDir}; run commands there, stop it, or set another DATA_DIR`,
  )
}

async function connect(url: string, as: EmbeddedOptions['as']): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: `${as} ${process.pid}`, keepAlive: true })
  // The event 'end' reports a lost connection.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** False if the last user is about to stop the server. */
async function take(client: pg.Client, as: EmbeddedOptions['as'], dataDir: string): Promise<boolean> {
  // If the statement fails, the last user has stopped the server at this very moment.
  if (!(await lock(client, 'pg_try_advisory_lock_shared', inUse).catch(() => false))) {
    await client.end().catch(() => {})
    return false
  }
  if (as === 'command') return true
  // The database needs a moment to notice that the previous gateway is gone.
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
  throw new Error(`Another gateway (process ${pid}) already uses ${dataDir}; stop it, or set another DATA_DIR`)
}

async function lock(client: pg.Client, how: string, key: number): Promise<boolean> {
  const { rows } = await client.query<{ ok: boolean }>(`select ${how}($1) as ok`, [key])
  return rows[0]?.ok === true
}

/** Releases the locks. Returns true if nobody else holds one, and then keeps others from using the server. */
async function isLast(client: pg.Client): Promise<boolean> {
  await client.query('select pg_advisory_unlock_all()')
  return await lock(client, 'pg_try_advisory_lock', inUse)
}

/** {@link leave} for a process that ends at once: the server ends its connections, and stops after it. */
async function abandon(cluster: Cluster, client: pg.Client): Promise<void> {
  if (await isLast(client)) signal(cluster, 'SIGINT')
}

/** Releases the locks, and stops the server if nobody else holds one. */
async function leave(cluster: Cluster, client: pg.Client): Promise<void> {
  try {
    if (!(await isLast(client))) return await client.end()
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

/** Connections that were just closed need a moment to end. Those that last longer than a second are cut off by the shutdown. */
async function othersGone(client: pg.Client): Promise<void> {
  for (let tries = 0; tries < 50; tries++) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    if (!rowCount) return
    await pause(20)
  }
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one; it recovers from both. */
function signal(cluster: Cluster, name: 'SIGINT' | 'SIGQUIT'): void {
  const server = cluster.running()
  if (server) process.kill(server.pid, name)
}
