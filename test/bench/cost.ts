// cost: what one message costs by part, from its request to the delivery of its webhook: processor time of Node and of PostgreSQL, WAL, and disk.
// The parts run one after the other, each in a process with that role alone, while the others are stopped (Linux only).
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type pg from 'pg'
import { spent, spentWithin } from '../kit/cost.ts'
import { until } from '../kit/until.ts'
import type { Figures } from './accept.ts'
import { type Account, openStage, type Running, type Stage } from './stage.ts'

const messages = 2_000
const clients = 16
/** The first round grows the tables from nothing, which the figures of disk are taken from. */
const rounds = 3

/** For one message: milliseconds of processor time, and bytes. */
interface Cost {
  node: number
  postgres: number
  wal: number
}

const partNames = ['admission', 'accept', 'claim, send and settle', 'number events', 'deliver a webhook'] as const
type Part = (typeof partNames)[number]

/** Goals for all parts together. */
const goals = { node: 0.15, postgres: 0.3, wal: 8_000, disk: 3_500 }

export async function benchCost(): Promise<Figures[]> {
  await using stage = await openStage(1)
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const env = { SANDBOX_LATENCY_MS: '1', ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' }
  const [http, worker, relay] = await Promise.all(
    ['http', 'worker', 'relay'].map((role) => stage.start('src/main.ts', { ...env, ROLES: role })),
  )
  await using parts = new AsyncDisposableStack()
  for (const each of [http, worker, relay] as Running[]) {
    parts.use(each)
    // A stopped process does not end by SIGTERM.
    parts.defer(() => void process.kill(each.pid, 'SIGCONT'))
  }
  parts.defer(() => void receiver.close())
  const account = stage.accounts[0] as Account
  await ask(http as Running, account, 'POST', 'webhooks', {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    events: ['message.read'],
  })
  const costs = new Map<Part, Cost>()
  let disk: { name: string; bytes: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const seen = await driveRound(stage, account, http as Running, worker as Running, relay as Running, round)
    if (round === 0) disk = await sizes(stage.pool)
    // The least of the later rounds: other load on the machine only adds.
    else for (const [part, cost] of seen) costs.set(part, least(costs.get(part), cost))
  }
  await printTables(stage.pool)
  return report(costs, disk)
}

async function driveRound(stage: Stage, account: Account, http: Running, worker: Running, relay: Running, round: number) {
  const { pool } = stage
  const server = await serverOf(pool)
  const seen = new Map<Part, Cost>()
  async function measure(part: Part, running: Running, work: () => Promise<unknown>): Promise<void> {
    process.kill(running.pid, 'SIGCONT')
    const before = await reading(pool, server, running)
    await work()
    const after = await reading(pool, server, running)
    if (running !== http) process.kill(running.pid, 'SIGSTOP')
    seen.set(part, {
      node: (after.node - before.node) / messages,
      postgres: (after.postgres - before.postgres) / messages,
      wal: (after.wal - before.wal) / messages,
    })
  }
  for (const { pid } of [worker, relay]) process.kill(pid, 'SIGSTOP')
  await measure('admission', http, () => each(() => ask(http, account, 'GET', 'me')))
  await measure('accept', http, () =>
    each((n) => {
      const to = `+3933${String(round * messages + n).padStart(5, '0')}5555`
      return ask(http, account, 'POST', 'messages/send', {
        instanceId: account.instanceId,
        to,
        type: 'text',
        text: 'Hello, world',
      })
    }),
  )
  const admission = seen.get('admission') as Cost
  const whole = seen.get('accept') as Cost
  seen.set('accept', {
    node: whole.node - admission.node,
    postgres: whole.postgres - admission.postgres,
    wal: whole.wal - admission.wal,
  })
  const none = (sql: string) => until(async () => (await pool.query(sql)).rowCount === 0, { timeoutMs: 300_000, everyMs: 200 })
  await measure('claim, send and settle', worker, () => none(`select from messages where status <> 'read' limit 1`))
  await measure('number events', relay, () => none('select from outbox limit 1'))
  await measure('deliver a webhook', worker, () => none(`select from webhook_deliveries where status <> 'delivered' limit 1`))
  return seen
}

/** The process id of the server, which runs on this machine. */
export async function serverOf(pool: pg.Pool): Promise<number> {
  const { dir } = await one<{ dir: string }>(pool, `select current_setting('data_directory') as dir`)
  return Number(readFileSync(path.join(dir, 'postmaster.pid'), 'utf8').split('\n')[0])
}

async function reading(pool: pg.Pool, server: number, { pid }: Running): Promise<Cost> {
  const { wal } = await one<{ wal: string }>(pool, `select pg_current_wal_insert_lsn() - '0/0' as wal`)
  const postgres = spentWithin(server)
  return { node: spent(pid).own, postgres: postgres.own + postgres.children, wal: Number(wal) }
}

/** Calls `work` for each message, `clients` at a time. */
async function each(work: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0
  async function client(): Promise<void> {
    while (next < messages) await work(next++)
  }
  await Promise.all(Array.from({ length: clients }, client))
}

async function ask({ url }: Running, { apiKey }: Account, method: string, route: string, body?: object): Promise<void> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/v1/${route}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(`${route}: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}

/** Prints how the tables of the load were changed and read, and which of their indexes nothing read. */
async function printTables(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{
    name: string
    inserts: number
    updates: number
    hot: number
    scanned: number
    unread: string
  }>(
    `select relname as name, n_tup_ins::int as inserts, n_tup_upd::int as updates, n_tup_hot_upd::int as hot, seq_tup_read::float8 as scanned,
       (select coalesce(string_agg(indexrelname, ', '), '') from pg_stat_user_indexes i where i.relid = t.relid and idx_scan = 0) as unread
     from pg_stat_user_tables t where n_tup_ins >= $1 order by n_tup_upd desc`,
    [messages],
  )
  for (const { name, inserts, updates, hot, scanned, unread } of rows) {
    console.error(
      `cost ${name}: ${inserts} inserts, ${updates} updates of which ${hot} were HOT, ${scanned} rows by sequential scans; indexes not read: ${unread || 'none'}`,
    )
  }
}

/** Bytes that each table takes for one message, with its indexes; the largest first. */
async function sizes(pool: pg.Pool): Promise<{ name: string; bytes: number }[]> {
  const { rows } = await pool.query<{ name: string; bytes: number }>(
    `select relname as name, pg_total_relation_size(oid)::float8 / $1 as bytes from pg_class
     where relkind = 'r' and relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace) order by bytes desc limit 8`,
    [messages],
  )
  return rows
}

function least(known: Cost | undefined, cost: Cost): Cost {
  if (!known) return cost
  return {
    node: Math.min(known.node, cost.node),
    postgres: Math.min(known.postgres, cost.postgres),
    wal: Math.min(known.wal, cost.wal),
  }
}

async function one<Row extends pg.QueryResultRow>(pool: pg.Pool, text: string): Promise<Row> {
  return (await pool.query<Row>(text)).rows[0] as Row
}

function report(costs: ReadonlyMap<Part, Cost>, disk: readonly { name: string; bytes: number }[]): Figures[] {
  const total: Cost = { node: 0, postgres: 0, wal: 0 }
  for (const part of partNames) {
    const { node, postgres, wal } = costs.get(part) as Cost
    console.error(
      `cost ${part}: Node ${node.toFixed(3)} s, PostgreSQL ${postgres.toFixed(3)} s of processor time for 1,000 messages; ${Math.round(wal)} B of WAL for one`,
    )
    total.node += node
    total.postgres += postgres
    total.wal += wal
  }
  console.error(`cost on disk for one message: ${disk.map(({ name, bytes }) => `${name} ${Math.round(bytes)} B`).join(', ')}`)
  const bytes = disk.reduce((sum, table) => sum + table.bytes, 0)
  const figure = (name: string, unit: string, baseline: number, gateway: number): Figures => {
    return { name: `cost: ${name} (beside the goal)`, unit, baseline, gateway, ratio: gateway / baseline, target: 'printed' }
  }
  return [
    figure('processor time of Node for 1,000 messages', 's', goals.node, total.node),
    figure('processor time of PostgreSQL for 1,000 messages', 's', goals.postgres, total.postgres),
    figure('WAL of one message', 'B', goals.wal, total.wal),
    figure('disk of one message, as grown', 'B', goals.disk, bytes),
  ]
}
