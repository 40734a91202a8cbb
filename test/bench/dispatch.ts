// dispatch: messages per second from accepted to `read` through a sandbox without latency, every event written and numbered.
import { type Figures, inserts } from './accept.ts'
import { type Account, clearMessages, load, median, medianRatio, openStage, type Running, type Stage } from './stage.ts'

const accounts = 64
const rounds = 5
const messages = 3_200

export async function benchDispatch(): Promise<Figures[]> {
  await using stage = await openStage(accounts)
  await using gateway = await stage.start('src/main.ts', { SANDBOX_LATENCY_MS: '0' })
  await using baseline = await stage.start('test/bench/baseline-insert.ts')
  const rates = { baseline: [] as number[], gateway: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const bare = await load({ url: baseline.url, path: '/insert', connections: 128, seconds: 2, requests: inserts(stage) })
    await clearMessages(stage)
    const full = await drive(stage, gateway)
    await clearMessages(stage)
    console.error(
      `dispatch ${round === 0 ? 'warm-up' : `round ${round}`}: bare ${Math.round(bare.rate)}/s, gateway ${Math.round(full)}/s`,
    )
    if (round === 0) continue
    rates.baseline.push(bare.rate)
    rates.gateway.push(full)
  }
  const [bare, full] = [median(rates.baseline), median(rates.gateway)]
  return [
    {
      name: 'dispatch',
      unit: 'messages/s',
      baseline: bare,
      gateway: full,
      ratio: medianRatio(rates.baseline, rates.gateway),
      target: '≥ 0.5 ×',
    },
  ]
}

/** Sends all messages in bulk and waits until all are read; returns messages per second over the whole time. */
async function drive(stage: Stage, gateway: Running): Promise<number> {
  const perAccount = messages / accounts
  const begin = performance.now()
  await Promise.all(stage.accounts.map((account, a) => sendBulk(gateway, account, a * perAccount, perAccount)))
  for (;;) {
    const { rows } = await stage.pool.query<{ n: number }>(`select count(*)::int as n from events where type = 'message.read'`)
    if ((rows[0]?.n ?? 0) >= messages) break
    if (performance.now() - begin > 120_000) throw new Error(`only ${rows[0]?.n} of ${messages} messages were read in time`)
  }
  return messages / ((performance.now() - begin) / 1000)
}

async function sendBulk(gateway: Running, { apiKey, instanceId }: Account, from: number, count: number): Promise<void> {
  const body = {
    messages: Array.from({ length: count }, (_, i) => ({
      instanceId,
      to: recipientOf(from + i),
      type: 'text',
      text: 'As people write them.',
    })),
  }
  const response = await fetch(`${gateway.url}/api/v1/messages/bulk`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { data } = (await response.json()) as { data: { accepted: unknown[] } }
  if (data.accepted.length !== count) throw new Error(`a bulk was not accepted whole: ${response.status}`)
}

/** All different, and none with an ending that the sandbox treats specially. */
export function recipientOf(i: number): string {
  return `+3933${Math.floor(i / 9_000)}0${String(1_000 + (i % 9_000)).padStart(6, '1')}`
}
