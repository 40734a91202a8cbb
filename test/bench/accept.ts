// accept: messages per second stored by POST /api/v1/messages/send, answered after commit, against one bare INSERT a request.
import { clearMessages, load, median, medianRatio, openStage, type Stage } from './stage.ts'

const connections = 128
const accounts = 64
const rounds = 9
const seconds = 2
/** The first round warms up and is not counted: V8 compiles the gateway's code in the first seconds under load. */
const warmUpSeconds = 8

export interface Figures {
  name: string
  unit: string
  baseline: number
  gateway: number
  ratio: number
  target: string
}

export async function benchAccept(): Promise<Figures[]> {
  await using stage = await openStage(accounts)
  // No workers: this measures acceptance only, up to the commit of message and job.
  await using gateway = await stage.start('src/main.ts', { ROLES: 'http' })
  await using baseline = await stage.start('test/bench/baseline-insert.ts')
  const rates = { baseline: [] as number[], gateway: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const shape = { connections, seconds: round === 0 ? warmUpSeconds : seconds }
    const bare = await load({ url: baseline.url, path: '/insert', ...shape, requests: inserts(stage) })
    const full = await load({ url: gateway.url, path: '/api/v1/messages/send', ...shape, requests: sends(stage) })
    if (full.failed > 0) throw new Error(`${full.failed} sends failed`)
    console.error(
      `accept ${round === 0 ? 'warm-up' : `round ${round}`}: bare ${Math.round(bare.rate)}/s, gateway ${Math.round(full.rate)}/s`,
    )
    await clearMessages(stage)
    if (round === 0) continue
    rates.baseline.push(bare.rate)
    rates.gateway.push(full.rate)
  }
  return [
    {
      name: 'accept',
      unit: 'messages/s',
      baseline: median(rates.baseline),
      gateway: median(rates.gateway),
      ratio: medianRatio(rates.baseline, rates.gateway),
      target: '≥ 1.0 ×',
    },
  ]
}

/** Recipients differ, as in real traffic. */
function recipient(i: number): string {
  return `+39333${String(1_000_000 + i * 7).slice(0, 7)}`
}

/** Requests that send a message: `perAccount` for each account, to numbers of their own. */
export function sends(stage: Stage, perAccount = 8, recipientOf = recipient) {
  return stage.accounts.flatMap((account, a) =>
    Array.from({ length: perAccount }, (_, i) => ({
      headers: { 'content-type': 'application/json', 'x-api-key': account.apiKey },
      body: JSON.stringify({
        instanceId: account.instanceId,
        to: recipientOf(a * perAccount + i),
        type: 'text',
        text: 'A message of an ordinary length, as people write them.',
      }),
    })),
  )
}

export function inserts(stage: Stage, perAccount = 8) {
  return stage.accounts.flatMap(({ workspaceId, userId, instanceId }, a) =>
    Array.from({ length: perAccount }, (_, i) => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        workspaceId,
        userId,
        instanceId,
        to: recipient(a * perAccount + i),
        text: 'A message of an ordinary length, as people write them.',
      }),
    })),
  )
}
