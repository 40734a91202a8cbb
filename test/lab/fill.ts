// `npm run lab -- fill --messages N`: a database with N messages of the last 60 days beside an empty one. Are `accept` and `list` as fast on it,
// and how long does it take to delete the half of the event log that has expired?
import type pg from 'pg'
import type { Pruned } from '../../src/core/jobs/prune.ts'
import { addPartition, readPartitions } from '../../src/events/log/partitions.sql.ts'
import { partitionSize } from '../../src/events/log/partitions.ts'
import { pruneEvents } from '../../src/events/log/prune.ts'
import { sends } from '../bench/accept.ts'
import { askUs } from '../bench/list.ts'
import { closeServer, installLoad, load, median, medianRatio, openStage, type Running, type Stage } from '../bench/stage.ts'
import { until } from '../kit/until.ts'
import type { Line } from './verdict.ts'

const accounts = 16
const days = 60
/** Messages per statement. */
const chunk = 50_000
const rounds = 5
/** `accept` and `list` may take this much longer than on an empty database. */
const allowed = 1.2

export async function runFill(messages: number): Promise<Line[]> {
  const lines: Line[] = []
  installLoad()
  {
    await using empty = await openStage(accounts, 'bare')
    await using full = await openStage(accounts, 'filled')
    const events = await fill(full, messages)
    const { size } = await one<{ size: string }>(full.pool, 'select pg_size_pretty(pg_database_size(current_database())) as size')
    lines.push({ what: 'messages, events, database', value: `${messages}, ${events}, ${size}` })
    const env = { ROLES: 'http' }
    await using bare = await empty.start('src/main.ts', env)
    await using filled = await full.start('src/main.ts', env)
    const send = { path: '/api/v1/messages/send', requests: (stage: Stage) => sends(stage), connections: 64 }
    const list = { path: '/graphql', requests: (stage: Stage) => stage.accounts.map(askUs), connections: 32 }
    // A list of the empty database would have nothing to read.
    await fill(empty, accounts * 100)
    lines.push(await compare('list', list, { empty, bare, full, filled }))
    lines.push(await compare('accept', send, { empty, bare, full, filled }))
    lines.push(...(await prune(full.pool)))
  }
  await closeServer()
  return lines
}

/** Copies a message that was read, with its events, to the whole time, evenly. Returns the number of events. */
async function fill(stage: Stage, messages: number): Promise<number> {
  const { pool } = stage
  await makeSample(stage)
  const { first, perMessage } = await one<{ first: string; perMessage: number }>(
    pool,
    `select (select last from event_sequence) as first, (select count(*)::int from sample_events) as "perMessage"`,
  )
  const last = BigInt(first) + BigInt(messages * perMessage)
  await addPartitions(pool, last, partitionSize(messages * perMessage, days * 86_400))
  const copy = await copyOfMessages(pool)
  for (let from = 0; from < messages; from += chunk) {
    const upTo = Math.min(from + chunk, messages)
    await pool.query(copy, [from, upTo - 1, messages, days, stage.accounts.map(({ workspaceId }) => workspaceId)])
    await pool.query(copyOfEvents, [from, upTo - 1, messages, days, first, perMessage])
    if (messages > chunk) console.error(`${upTo} of ${messages} messages`)
  }
  await pool.query('update event_sequence set last = $1', [last])
  await pool.query('drop table sample, sample_events')
  await pool.query('vacuum analyze messages, events')
  return messages * perMessage
}

/** Sends one message through a gateway of its own, and keeps it and its events as the pattern of all others. */
async function makeSample({ pool, accounts: [account], start }: Stage): Promise<void> {
  if (!account) throw new Error('no account')
  await using gateway = await start('src/main.ts', { SANDBOX_LATENCY_MS: '1' })
  const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' }
  const text = 'A message of an ordinary length, as people write them.'
  const body = JSON.stringify({ instanceId: account.instanceId, to: '+393332220009', type: 'text', text })
  const answer = await fetch(`${gateway.url}/api/v1/messages/send`, { method: 'POST', headers, body })
  if (answer.status !== 201) throw new Error(`the sample was answered ${answer.status}`)
  await until(async () => (await pool.query(`select from events where type = 'message.read'`)).rowCount)
  await pool.query('create table sample as table messages; create table sample_events as table events order by seq')
  await pool.query('truncate messages, events, sandbox_messages, sandbox_steps')
}

/** Adds the partitions up to that number as the relay would have added them. */
async function addPartitions(pool: pg.Pool, last: bigint, size: bigint): Promise<void> {
  for (let end = (await readPartitions(pool)).at(-1)?.to ?? 0n; end <= last + 1_000_000n; end += size) {
    await addPartition(pool, end, end + size)
  }
}

/** The ids, times and numbers of the messages from $1 to $2 of $3. */
const copies = `
  select n, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid as id, '+39333' || lpad((n * 7919 % 10000000)::text, 7, '0') as peer,
    now() - make_interval(secs => ($3 - n) * $4::float8 * 86400 / $3) as at
  from generate_series($1::bigint, $2::bigint) n`

/** The columns in which the copies of a message differ; the others are those of the sample. */
const own: Record<string, string> = {
  id: 'c.id',
  workspaceId: 'i."workspaceId"',
  userId: 'i."userId"',
  instanceId: 'i.id',
  to: 'c.peer',
  peer: 'c.peer',
  providerMessageId: 'c.id',
  dueAt: 'c.at',
  createdAt: 'c.at',
  updatedAt: 'c.at',
}

async function copyOfMessages(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = 'messages'::regclass and attnum > 0 and not attisdropped`,
  )
  const columns = rows.map(({ name }) => `"${name}"`).join(', ')
  const values = rows.map(({ name }) => own[name] ?? `s."${name}"`).join(', ')
  return `with c as (${copies}) insert into messages (${columns})
    select ${values} from c join instances i on i."workspaceId" = ($5::uuid[])[1 + n % ${accounts}], sample s order by n`
}

const copyOfEvents = `
  with c as (${copies})
  insert into events (seq, id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload, "createdAt")
  select $5::bigint + n * $6::bigint + row_number() over (partition by n order by e.seq), gen_random_uuid(), m."workspaceId", e.type,
    m."instanceId", m.id, null, e.payload, at
  from c join messages m using (id), sample_events e`

interface Two {
  empty: Stage
  bare: Running
  full: Stage
  filled: Running
}

interface Work {
  path: string
  connections: number
  requests: (stage: Stage) => ReturnType<typeof sends>
}

/** Requests per second of both gateways in turns. */
async function compare(what: string, { path, connections, requests }: Work, { empty, bare, full, filled }: Two): Promise<Line> {
  const rates = { bare: [] as number[], filled: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const shape = { path, connections, seconds: 2 }
    const without = await load({ url: bare.url, ...shape, requests: requests(empty) })
    const within = await load({ url: filled.url, ...shape, requests: requests(full) })
    if (without.failed + within.failed > 0) throw new Error(`${what}: ${without.failed} and ${within.failed} requests failed`)
    if (round === 0) continue
    rates.bare.push(without.rate)
    rates.filled.push(within.rate)
  }
  const ratio = medianRatio(rates.filled, rates.bare)
  const value = `${Math.round(median(rates.filled))}/s, and ${Math.round(median(rates.bare))}/s on an empty database: ${ratio.toFixed(2)} × its time`
  return { what, value, kept: ratio <= allowed }
}

/** Deletes a batch row by row, for comparison, and then all that has expired. */
async function prune(pool: pg.Pool): Promise<Line[]> {
  const { count } = await one<{ count: string }>(
    pool,
    `select count(*) from events where "createdAt" < now() - interval '31 days'`,
  )
  const batch = 50_000
  const begun = performance.now()
  const { rowCount } = await pool.query(
    `delete from events where seq = any(array(select seq from events where "createdAt" < now() - interval '31 days' order by seq limit $1))`,
    [batch],
  )
  const each = (performance.now() - begun) / Math.max(rowCount ?? 0, 1)
  const app = { pool, log: { info: () => {} }, stopping: false } as unknown as Pruned
  const began = performance.now()
  const rows = await pruneEvents.prune(app)
  const seconds = (performance.now() - began) / 1000
  return [
    { what: 'expired events', value: count },
    { what: 'deleted row by row, they would take', value: `${Math.round((each * Number(count)) / 1000)} s` },
    { what: 'their partitions took', value: `${seconds.toFixed(1)} s, of which ${rows} rows one by one` },
  ]
}

async function one<Row extends pg.QueryResultRow>(pool: pg.Pool, text: string): Promise<Row> {
  return (await pool.query<Row>(text)).rows[0] as Row
}
