// The environment of the benches: a PostgreSQL of their own with a database for each, accounts with connected instances, child processes, load.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import pg from 'pg'
import { createAccount } from '../../src/accounts/service.ts'
import { type Db, openDatabase } from '../../src/core/database/database.ts'
import { openEmbedded } from '../../src/core/database/embedded.ts'
import { migrate } from '../../src/core/database/migrate.ts'
import { newId } from '../../src/core/id.ts'

/** The password of the first account. The others have none, because each hash takes a while. */
export const password = 'correct horse battery'

const root = path.resolve(import.meta.dirname, '../..')

export interface Account {
  apiKey: string
  workspaceId: string
  userId: string
  instanceId: string
}

export interface Stage extends AsyncDisposable {
  databaseUrl: string
  pool: pg.Pool
  accounts: readonly Account[]
  /** Starts a script with these variables; resolves once it prints `on http://…`, or that it is ready without a server. */
  start: (script: string, env?: Record<string, string>) => Promise<Running>
}

export interface Running extends AsyncDisposable {
  /** Empty for a process without a server. */
  url: string
  pid: number
}

/** The PostgreSQL of a run, with a migrated database as the template of the others. */
interface Server extends AsyncDisposable {
  /** The URL of the template. */
  url: string
}

let shared: Promise<Server> | undefined

/** Stops the PostgreSQL of all stages, and deletes it. */
export async function closeServer(): Promise<void> {
  await (await shared)?.[Symbol.asyncDispose]()
}

async function openServer(): Promise<Server> {
  await using parts = new AsyncDisposableStack()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'gateway-bench-'))
  parts.defer(() => rm(dataDir, { recursive: true, force: true }))
  const { url: admin } = parts.use(await openEmbedded({ dataDir, as: 'gateway', onTrouble: (message) => console.error(message) }))
  await runOn(admin, 'create database template')
  const url = databaseOf(admin, 'template')
  await migrate(url)
  const moved = parts.move()
  return { url, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}

function databaseOf(url: string, name: string): string {
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

/** Sets up a fresh database `name` with `accounts` accounts on the largest plan, each with one connected sandbox instance. */
export async function openStage(accounts: number, name = 'stage'): Promise<Stage> {
  shared ??= openServer()
  const server = await shared
  await using parts = new AsyncDisposableStack()
  const admin = databaseOf(server.url, 'postgres')
  await runOn(admin, `create database ${name} template template`)
  parts.defer(() => runOn(admin, `drop database ${name} with (force)`))
  const url = databaseOf(server.url, name)
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  parts.defer(() => pool.end())
  const clients = parts.use(openDatabase(url, () => {}, { max: 1 }))
  const made: Account[] = []
  for (let i = 0; i < accounts; i++) made.push(await makeAccount(pool, clients.db, i))
  const moved = parts.move()
  return {
    databaseUrl: url,
    pool,
    accounts: made,
    start: (script, env = {}) => startProcess(script, { DATABASE_URL: url, ...env }),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

async function makeAccount(pool: pg.Pool, db: Db, i: number): Promise<Account> {
  const { apiKey, workspaceId, userId } = await createAccount(db, {
    email: `bench${i}@gateway.test`,
    name: 'Bench',
    plan: 'max',
    password: i === 0 ? password : undefined,
  })
  const instanceId = newId()
  await pool.query(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, "waNumber", "firstConnectedAt", disconnections)
     values ($1, $2, $3, 'bench', 'sandbox', 'connected', '+393330000000', now() - interval '30 days', '{}')`,
    [instanceId, workspaceId, userId],
  )
  return { apiKey, workspaceId, userId, instanceId }
}

async function startProcess(script: string, env: Record<string, string>): Promise<Running> {
  const child: ChildProcess = spawn(process.execPath, [script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: '0',
      LOG_LEVEL: 'warn',
      // As in production (`gateway print systemd`): graphql-js checks each type of a schema twice without it.
      NODE_ENV: 'production',
      SANDBOX: '1',
      SECRET_KEY: 'ab'.repeat(32),
      RATE_LIMIT_PER_SECOND: '1000000',
      ...env,
    },
  })
  const ready = Promise.withResolvers<string>()
  child.once('exit', () => ready.reject(new Error(`${script} ended before it served`)))
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const url = line.match(/on (http:\S+)/)?.[1]
    if (url || line.startsWith('gateway ready for ')) ready.resolve(url ?? '')
    else console.error(line)
  })
  return {
    url: await ready.promise,
    pid: child.pid as number,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

export interface Load {
  url: string
  path: string
  connections: number
  seconds: number
  requests: readonly { headers: Record<string, string>; body: string }[]
  /** Each connection begins at another request; by default all begin at the first one. */
  spread?: boolean
}

/** Installs the load generator, which has a package of its own. `npm run bench` does it by itself. */
export function installLoad(): void {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  execFileSync('npm', ['install', '--prefix', path.join(root, 'test/bench/programs'), ...options], { stdio: 'inherit' })
}

/** The 2xx answers per second, and the number of all other answers and errors. */
export async function load({
  url,
  path: route,
  connections,
  seconds,
  requests,
  spread = false,
}: Load): Promise<{ rate: number; failed: number }> {
  const child = spawn(process.execPath, [path.join(root, 'test/bench/programs/load.js')], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(
    JSON.stringify({
      url: url + route,
      method: 'POST',
      connections,
      duration: seconds,
      spread,
      requests: requests.map((request) => ({ method: 'POST', path: route, ...request })),
    }),
  )
  return (await json(child.stdout)) as { rate: number; failed: number }
}

/** Empties the tables that grew, once no connection is active, so that later rounds start like earlier ones. */
export async function clearMessages({ pool }: Pick<Stage, 'pool'>): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where application_name = 'gateway' and state <> 'idle'`,
    )
    if (rows[0]?.n === 0) break
  }
  await pool.query(
    'truncate messages, events, webhook_deliveries, webhook_attempts, message_days, outbox, sandbox_messages, sandbox_steps, pgboss.job',
  )
  await pool.query('update usage set "messagesCount" = 0')
  await pool.query('update api_usage set "apiRequestsCount" = 0')
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The median of `b / a` per round: both values of a round see the same noise, while rounds minutes apart do not. */
export function medianRatio(a: readonly number[], b: readonly number[]): number {
  return median(b.map((value, i) => value / (a[i] as number)))
}

/** The value below which the share `p` of all values lies. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN
}
