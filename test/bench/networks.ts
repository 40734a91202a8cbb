// networks: the effect of instances whose network hangs on all others, and the time in which a thousand instances send one message each.
import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '../../src/core/id.ts'
import type { Figures } from './accept.ts'
import { type Account, clearMessages, openStage, percentile, type Running, type Stage } from './stage.ts'

const healthyCount = 80
const hangingCount = 20
/** Rounds are interleaved and short, so that other load on the machine affects both sides alike. Each waits until nothing hangs. */
const extents = {
  short: { rounds: 5, bulksPerRound: 20, hangMs: 2_000 },
  full: { rounds: 8, bulksPerRound: 50, hangMs: 10_000 },
}
const everyMs = 100
/** Messages of one bulk: a tenth of the instances at a time, so that each sends about one message a second. */
const share = 10
const many = 1_000
const bulkSize = 200

export async function benchNetworks(full: boolean): Promise<Figures[]> {
  const { rounds, bulksPerRound, hangMs } = full ? extents.full : extents.short
  await using stage = await openStage(1)
  await using gateway = await stage.start('src/main.ts', { SANDBOX_LATENCY_MS: '0' })
  const account = stage.accounts[0] as Account
  const healthy = await makeInstances(stage, account, healthyCount)
  const hanging = await makeInstances(stage, account, hangingCount)
  const quiet: number[] = []
  const beside: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const halves = { without: [] as number[], during: [] as number[] }
    // In turns, because the tables grow from the first half to the second.
    for (const half of round % 2 === 0 ? (['without', 'during'] as const) : (['during', 'without'] as const)) {
      await setHang(stage, hanging, half === 'during' ? hangMs : 0)
      halves[half] = await drive(stage, gateway, account, healthy, hanging, bulksPerRound)
      await setHang(stage, hanging, 0)
      await settled(stage)
    }
    await clearMessages(stage)
    const { without, during } = halves
    console.error(
      `networks ${round === 0 ? 'warm-up' : `round ${round}`}: p50 ${percentile(without, 0.5).toFixed(1)} ms, p99 ${percentile(without, 0.99).toFixed(1)} ms; ` +
        `beside ${hangingCount} that hang: p50 ${percentile(during, 0.5).toFixed(1)} ms, p99 ${percentile(during, 0.99).toFixed(1)} ms`,
    )
    if (round === 0) continue
    quiet.push(...without)
    beside.push(...during)
  }
  // The p99 is taken over all rounds together: among the messages of one round it would be just the slowest few.
  const [own, other] = [percentile(quiet, 0.99), percentile(beside, 0.99)]
  const seconds = await leaveAll(stage, gateway, account)
  return [
    {
      name: `networks: commit to provider call beside ${hangingCount} of ${healthyCount + hangingCount} that hang, p99`,
      unit: 'ms',
      baseline: own,
      gateway: other,
      ratio: other / own,
      target: '≤ 1.2 ×',
    },
    {
      name: `networks: one message of each of ${many} instances`,
      unit: 's',
      baseline: 2,
      gateway: seconds,
      ratio: seconds / 2,
      target: '≤ 2 s',
    },
  ]
}

async function makeInstances({ pool }: Stage, { workspaceId, userId }: Account, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId())
  await pool.query(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, "waNumber", "firstConnectedAt", disconnections)
     select id, $2, $3, 'bench', 'sandbox', 'connected', '+393330000000', now() - interval '30 days', '{}' from unnest($1::uuid[]) as u(id)`,
    [ids, workspaceId, userId],
  )
  return ids
}

async function setHang({ pool }: Stage, ids: readonly string[], ms: number): Promise<void> {
  await pool.query(`update instances set settings = jsonb_build_object('hangMs', $2::int) where id = any($1)`, [ids, ms])
}

let numbers = 0

async function sendBulk(gateway: Running, { apiKey }: Account, instanceIds: readonly string[]): Promise<void> {
  const messages = instanceIds.map((instanceId) => ({
    instanceId,
    to: `+4915${1_000_000 + ++numbers}55`,
    type: 'text',
    text: 'As people write them.',
  }))
  const response = await fetch(`${gateway.url}/api/v1/messages/bulk`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ messages }),
  })
  const { data } = (await response.json()) as { data: { accepted: unknown[] } }
  if (data?.accepted.length !== messages.length) throw new Error(`a bulk was not accepted whole: ${response.status}`)
}

/** Sends from all instances in turn; returns the milliseconds from commit to provider call of the healthy ones. */
async function drive(
  stage: Stage,
  gateway: Running,
  account: Account,
  healthy: readonly string[],
  hanging: readonly string[],
  bulks: number,
): Promise<number[]> {
  const begin = new Date()
  const part = (ids: readonly string[], i: number) => ids.filter((_, n) => n % share === i % share)
  for (let i = 0; i < bulks; i++) {
    await Promise.all([sendBulk(gateway, account, [...part(healthy, i), ...part(hanging, i)]), pause(everyMs)])
  }
  for (;;) {
    const { rows } = await stage.pool.query<{ ms: number | null }>(
      `select extract(epoch from s."acceptedAt" - m."createdAt")::float8 * 1000 as ms
       from messages m left join sandbox_messages s on s.reference = m.id::text where m."instanceId" = any($1) and m."createdAt" >= $2`,
      [healthy, begin],
    )
    const called = rows.flatMap(({ ms }) => ms ?? [])
    if (called.length === rows.length && rows.length > 0) return called
    if (Date.now() - begin.getTime() > 120_000) throw new Error(`only ${called.length} of ${rows.length} messages left in time`)
    await pause(100)
  }
}

/** Seconds from the first commit to the last provider call, for one message of each of many instances. */
async function leaveAll(stage: Stage, gateway: Running, account: Account): Promise<number> {
  const ids = await makeInstances(stage, account, many)
  const bulks = Array.from({ length: many / bulkSize }, (_, i) => ids.slice(i * bulkSize, (i + 1) * bulkSize))
  await Promise.all(bulks.map((bulk) => sendBulk(gateway, account, bulk)))
  await settled(stage)
  const { rows } = await stage.pool.query<{ n: number; seconds: number }>(
    `select count(*)::int as n, extract(epoch from max(s."acceptedAt") - min(m."createdAt"))::float8 as seconds
     from messages m join sandbox_messages s on s.reference = m.id::text where m."instanceId" = any($1)`,
    [ids],
  )
  if (rows[0]?.n !== many) throw new Error(`only ${rows[0]?.n} of ${many} messages left`)
  return rows[0].seconds
}

/** Waits until no message is on its way. */
async function settled({ pool }: Stage): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(`select from messages where status not in ('read', 'failed', 'cancelled') limit 1`)
    if (rows.length === 0) return
    await pause(100)
  }
}
