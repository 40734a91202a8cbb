// campaign: the time to accept 100,000 recipients, and the effect of a running campaign on instant messages.
import { setTimeout as pause } from 'node:timers/promises'
import type { Figures } from './accept.ts'
import { type Account, median, openStage, percentile, type Running, type Stage } from './stage.ts'

const recipients = 100_000
const creations = 3
/** Many short rounds of so many instant messages, alternating, so that other load on the machine affects both sides alike. */
const extents = { short: { rounds: 6, sends: 50, speedMs: 4_000 }, full: { rounds: 20, sends: 100, speedMs: 10_000 } }

export async function benchCampaign(full: boolean): Promise<Figures[]> {
  const { rounds, sends, speedMs } = full ? extents.full : extents.short
  await using stage = await openStage(1)
  await using gateway = await stage.start('src/main.ts', { SANDBOX_LATENCY_MS: '0' })
  const account = stage.accounts[0] as Account
  const taken: number[] = []
  let id = ''
  for (let i = 0; i < creations; i++) {
    if (id) await steer(gateway, account, id, 'cancel')
    const begin = performance.now()
    id = await create(gateway, account)
    taken.push((performance.now() - begin) / 1000)
    console.error(`campaign: ${recipients} recipients accepted in ${taken[i]?.toFixed(2)} s`)
  }
  const own = await speed(stage, id, speedMs)
  console.error(`campaign: ${Math.round(own)} messages/s by itself`)
  await steer(gateway, account, id, 'pause')
  const beside: number[] = []
  const idle: number[] = []
  const during: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const quiet = await sendInstantly(stage, gateway, account, sends)
    const before = await left(stage, id)
    await steer(gateway, account, id, 'resume')
    while ((await left(stage, id)) === before) await pause(50)
    const [begin, first] = [performance.now(), await left(stage, id)]
    const busy = await sendInstantly(stage, gateway, account, sends)
    const rate = ((await left(stage, id)) - first) / ((performance.now() - begin) / 1000)
    await steer(gateway, account, id, 'pause')
    await settled(stage)
    const [idleMs, busyMs] = [percentile(quiet, 0.5), percentile(busy, 0.5)]
    console.error(
      `campaign ${round === 0 ? 'warm-up' : `round ${round}`}: median ${idleMs.toFixed(1)} ms idle, ${busyMs.toFixed(1)} ms beside ${Math.round(rate)} campaign messages/s`,
    )
    if (round === 0) continue
    beside.push(rate)
    idle.push(...quiet)
    during.push(...busy)
  }
  // The p99 is taken over all rounds together: among the messages of one round it would be just the slowest.
  const [quiet, busy] = [percentile(idle, 0.99), percentile(during, 0.99)]
  const seconds = median(taken)
  return [
    {
      name: 'campaign: 100,000 recipients accepted',
      unit: 's',
      baseline: 10,
      gateway: seconds,
      ratio: seconds / 10,
      target: '≤ 10 s',
    },
    {
      name: 'campaign: instant send to provider, p99',
      unit: 'ms',
      baseline: quiet,
      gateway: busy,
      ratio: busy / quiet,
      target: '≤ 1.2 ×',
    },
    {
      name: 'campaign: speed beside instant sends, of its own',
      unit: 'messages/s',
      baseline: own,
      gateway: median(beside),
      ratio: median(beside) / own,
      target: '≥ 0.33 ×',
    },
  ]
}

async function post(gateway: Running, { apiKey }: Account, path: string, body: unknown): Promise<{ id: string }> {
  const response = await fetch(`${gateway.url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as { data: { id: string } }
  if (!response.ok) throw new Error(`${path} was answered ${response.status} ${JSON.stringify(answer)}`)
  return answer.data
}

async function create(gateway: Running, account: Account): Promise<string> {
  const body = {
    instanceId: account.instanceId,
    name: 'Bench',
    type: 'text',
    text: 'As people write them.',
    recipients: Array.from({ length: recipients }, (_, i) => ({ to: `+393${1_000_000 + i}55` })),
  }
  return (await post(gateway, account, 'campaigns', body)).id
}

async function steer(gateway: Running, account: Account, id: string, deed: 'pause' | 'resume' | 'cancel'): Promise<void> {
  await post(gateway, account, `campaigns/${id}/${deed}`, {})
}

let numbers = 0

/** Sends one message after another; returns the milliseconds from each request to the provider. */
async function sendInstantly(stage: Stage, gateway: Running, account: Account, sends: number): Promise<number[]> {
  const begun = new Map<string, number>()
  for (let i = 0; i < sends; i++) {
    const body = { instanceId: account.instanceId, to: `+4915${1_000_000 + ++numbers}55`, type: 'text', text: 'At once.' }
    const at = performance.timeOrigin + performance.now()
    begun.set((await post(gateway, account, 'messages/send', body)).id, at)
    await pause(15 + 20 * Math.random())
  }
  await pause(500)
  const { rows } = await stage.pool.query<{ id: string; at: Date }>(
    `select reference as id, "acceptedAt" as at from sandbox_messages where reference = any($1::text[])`,
    [[...begun.keys()]],
  )
  if (rows.length < sends) throw new Error(`only ${rows.length} of ${sends} instant messages reached the provider`)
  return rows.map(({ id, at }) => at.getTime() - (begun.get(id) as number))
}

/** Messages a second of a campaign that nothing else disturbs. */
async function speed(stage: Stage, id: string, ms: number): Promise<number> {
  while ((await left(stage, id)) === 0) await pause(50)
  const [begin, first] = [performance.now(), await left(stage, id)]
  await pause(ms)
  return ((await left(stage, id)) - first) / ((performance.now() - begin) / 1000)
}

/** The number of recipients of the campaign that have a message. */
async function left(stage: Stage, id: string): Promise<number> {
  const { rows } = await stage.pool.query<{ n: number }>(
    `select count(*)::int as n from campaign_recipients where "campaignId" = $1 and status = 'enqueued'`,
    [id],
  )
  return rows[0]?.n ?? 0
}

/** Waits until no message of the campaign is on its way. */
async function settled({ pool }: Stage): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(`select from messages where status not in ('read', 'failed', 'cancelled') limit 1`)
    if (rows.length === 0) return
    await pause(100)
  }
}
