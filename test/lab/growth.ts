// `npm run lab -- growth --seconds 15`: how many messages a second one to four nodes take from request to `read` on one PostgreSQL, with the
// processor time of both sides; and how many a second the two rows that all nodes change would allow (shared-rows.ts).
import type pg from 'pg'
import { sends } from '../bench/accept.ts'
import { serverOf } from '../bench/cost.ts'
import { recipientOf } from '../bench/dispatch.ts'
import { closeServer, installLoad, load, openStage, type Running, type Stage } from '../bench/stage.ts'
import { spent, spentWithin } from '../kit/cost.ts'
import { until } from '../kit/until.ts'
import { measureSharedRows } from './shared-rows.ts'
import type { Line } from './verdict.ts'

const mostNodes = 4
const accounts = 64
/** Numbers that each account writes to: messages to one number wait for each other. */
const numbersEach = 64
const connections = 128
/** Before the measurement: V8 compiles the code of each node under load. */
const warmUpSeconds = 5

export async function runGrowth(seconds: number): Promise<Line[]> {
  installLoad()
  const lines: Line[] = []
  for (let nodes = 1; nodes <= mostNodes; nodes++) {
    lines.push({ what: `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`, value: await measureNodes(nodes, seconds) })
    console.error(`${lines.at(-1)?.what}: ${lines.at(-1)?.value}`)
  }
  lines.push(...(await measureSharedRows()))
  await closeServer()
  return lines
}

async function measureNodes(count: number, seconds: number): Promise<string> {
  await using stage = await openStage(accounts, `growth${count}`)
  await using parts = new AsyncDisposableStack()
  const nodes: Running[] = []
  for (let n = 0; n < count; n++) nodes.push(parts.use(await stage.start('src/main.ts', { SANDBOX_LATENCY_MS: '1' })))
  await drive(stage, nodes, warmUpSeconds)
  const server = await serverOf(stage.pool)
  const before = await reading(stage.pool, server, nodes)
  const { messages, acceptedIn, readIn } = await drive(stage, nodes, seconds)
  const after = await reading(stage.pool, server, nodes)
  const each = (name: 'node' | 'postgres' | 'wal') => (after[name] - before[name]) / messages
  return [
    `${Math.round(messages / readIn)} messages/s from request to read`,
    `accepted at ${Math.round(messages / acceptedIn)}/s`,
    `for 1,000: nodes ${each('node').toFixed(2)} s, PostgreSQL ${each('postgres').toFixed(2)} s of processor time`,
    `${(each('wal') / 1_000).toFixed(1)} kB of WAL for one`,
  ].join('; ')
}

/** Sends through all nodes for that time, and waits until every message was read. Times in seconds. */
async function drive(stage: Stage, nodes: readonly Running[], seconds: number) {
  const { pool } = stage
  const count = async () => Number((await pool.query<{ n: string }>('select count(*) as n from messages')).rows[0]?.n)
  const before = await count()
  const begun = performance.now()
  const perNode = {
    path: '/api/v1/messages/send',
    connections: Math.round(connections / nodes.length),
    seconds,
    spread: true,
    requests: sends(stage, numbersEach, recipientOf),
  }
  const loads = await Promise.all(nodes.map(({ url }) => load({ url, ...perNode })))
  const failed = loads.reduce((sum, one) => sum + one.failed, 0)
  if (failed > 0) throw new Error(`${failed} sends failed`)
  await until(async () => (await pool.query(`select from messages where status <> 'read' limit 1`)).rowCount === 0, {
    timeoutMs: 600_000,
    everyMs: 100,
  })
  return { messages: (await count()) - before, acceptedIn: seconds, readIn: (performance.now() - begun) / 1_000 }
}

/** Milliseconds of processor time, and bytes. */
async function reading(pool: pg.Pool, server: number, nodes: readonly Running[]) {
  const { rows } = await pool.query<{ wal: string }>(`select pg_current_wal_insert_lsn() - '0/0' as wal`)
  const postgres = spentWithin(server)
  return {
    node: nodes.reduce((sum, { pid }) => sum + spent(pid).own, 0),
    postgres: postgres.own + postgres.children,
    wal: Number(rows[0]?.wal),
  }
}
