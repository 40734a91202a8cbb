// webhooks: events per second delivered to the 800 working ones of 1,000 endpoints, each delivery claimed, signed, posted and stored with its
// attempt, against a bare loop of undici that posts to the same ones. Of the others, 100 refuse connections and 100 never answer.
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { notifyLeader } from '../../src/events/log/relay.sql.ts'
import { messageEvent } from '../../src/messages/events.ts'
import { until } from '../kit/until.ts'
import type { Figures } from './accept.ts'
import { type Account, median, medianRatio, openStage, type Running, type Stage } from './stage.ts'

const accounts = 100
const endpointsEach = 10
const eventsEach = 10
const rounds = 3
const concurrency = 128

export async function benchWebhooks(): Promise<Figures[]> {
  await using stage = await openStage(accounts)
  await using receivers = await openReceivers()
  await using gateway = await stage.start('src/main.ts', { ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' })
  await using baseline = await stage.start('test/bench/baseline-post.ts')
  const healthy: string[] = []
  for (const [a, account] of stage.accounts.entries()) {
    const { working, silent, refusing } = receivers.of[a] as Receivers['of'][number]
    const paths = Array.from({ length: endpointsEach - 2 }, (_, e) => `${working}/${e}`)
    healthy.push(...paths)
    for (const url of [silent, refusing, ...paths]) await createEndpoint(gateway, account, url)
  }
  const rates = { baseline: [] as number[], gateway: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const urls = Array.from({ length: eventsEach }, () => healthy).flat()
    const bare = await post(baseline, urls)
    receivers.clear()
    const full = await deliver(stage, gateway, urls.length, receivers.received)
    receivers.clear()
    console.error(
      `webhooks ${round === 0 ? 'warm-up' : `round ${round}`}: bare ${Math.round(bare)}/s, gateway ${Math.round(full)}/s`,
    )
    if (round === 0) continue
    rates.baseline.push(bare)
    rates.gateway.push(full)
  }
  return [
    {
      name: 'webhooks: 1,000 endpoints, 200 of them dead',
      unit: 'deliveries/s',
      baseline: median(rates.baseline),
      gateway: median(rates.gateway),
      ratio: medianRatio(rates.baseline, rates.gateway),
      target: '≥ 0.4 ×',
    },
  ]
}

/** Emits `eventsEach` events in each workspace; returns how many of them arrive a second at the working endpoints. */
async function deliver(stage: Stage, gateway: Running, count: number, received: ReadonlySet<string>): Promise<number> {
  process.kill(gateway.pid, 'SIGSTOP')
  try {
    const at = new Date()
    const events = stage.accounts.flatMap(({ workspaceId, instanceId }) =>
      Array.from({ length: eventsEach }, () => {
        const message = { id: newId(), workspaceId, instanceId, campaignId: null, providerMessageId: null, to: '+393331234567' }
        return messageEvent(message, 'sent', at)
      }),
    )
    await emit(stage.pool, events)
    await notifyLeader(stage.pool)
  } finally {
    process.kill(gateway.pid, 'SIGCONT')
  }
  const begin = performance.now()
  await until(() => received.size >= count, { timeoutMs: 120_000, everyMs: 10 })
  const seconds = (performance.now() - begin) / 1000
  const unsettled = `select from webhook_deliveries d join webhook_endpoints e on e.id = d."endpointId"
    where d.status <> 'delivered' and e."failingSince" is null limit 1`
  await until(async () => (await stage.pool.query(unsettled)).rowCount === 0, { timeoutMs: 60_000, everyMs: 100 })
  return count / seconds
}

async function post({ url }: Running, urls: readonly string[]): Promise<number> {
  const text = JSON.stringify({
    ...{ id: newId(), event: 'message.sent', instanceId: newId(), messageId: newId(), providerMessageId: null },
    ...{ to: '+393331234567', status: 'sent', timestamp: new Date().toISOString() },
  })
  const answer = await fetch(`${url}/post`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ urls, text, concurrency }),
  })
  return ((await answer.json()) as { rate: number }).rate
}

async function createEndpoint({ url }: Running, { apiKey }: Account, target: string): Promise<void> {
  const answer = await fetch(`${url}/api/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url: target, events: ['message.sent'] }),
  })
  if (!answer.ok) throw new Error(`an endpoint was not created: ${answer.status} ${await answer.text()}`)
}

interface Receivers extends AsyncDisposable {
  /** For each account, the URLs of a server that answers, of one that never does, and of none. */
  of: readonly { working: string; silent: string; refusing: string }[]
  /** The URL and the event of each request to the working ones. */
  received: ReadonlySet<string>
  clear: () => void
}

async function openReceivers(): Promise<Receivers> {
  const received = new Set<string>()
  const servers: Server[] = []
  async function listen(server: Server): Promise<string> {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    servers.push(server)
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  async function openFor() {
    const silent = await listen(createServer((socket) => socket.on('error', () => {}).resume()))
    const closed = createServer()
    const refusing = await listen(closed)
    closed.close()
    const working = createHttpServer((request, response) => {
      received.add(`${request.headers.host}${request.url} ${request.headers['webhook-id']}`)
      request.resume().on('end', () => response.end())
    })
    return { working: await listen(working), silent, refusing }
  }
  const of = await Promise.all(Array.from({ length: accounts }, openFor))
  return {
    of,
    received,
    clear: () => received.clear(),
    async [Symbol.asyncDispose]() {
      for (const server of servers) server.close()
    },
  }
}
