// latency: on an idle gateway, from commit of a message to the provider call, and from the commit of an event to a subscriber.
import { setTimeout as pause } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import type { Figures } from './accept.ts'
import { openStage, percentile, type Stage } from './stage.ts'

const messages = 200

export async function benchLatency(): Promise<Figures[]> {
  await using stage = await openStage(1)
  await using gateway = await stage.start('src/main.ts', { SANDBOX_LATENCY_MS: '0' })
  const account = stage.accounts[0] as Stage['accounts'][number]
  const headers = { 'x-api-key': account.apiKey, 'content-type': 'application/json' }
  const arrivals: { timestamp: number; at: number }[] = []
  const source = new EventSource(`${gateway.url}/api/v1/events/stream?types=message.sent`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, 'x-api-key': account.apiKey } }),
  })
  source.addEventListener('message.sent', ({ data }) =>
    arrivals.push({ timestamp: Date.parse(JSON.parse(data).timestamp), at: Date.now() }),
  )
  await new Promise((resolve) => source.addEventListener('open', resolve))
  for (let i = 0; i < messages; i++) {
    const body = JSON.stringify({
      instanceId: account.instanceId,
      to: `+39333222${1_100 + i}`,
      type: 'text',
      text: 'One at a time.',
    })
    const response = await fetch(`${gateway.url}/api/v1/messages/send`, { method: 'POST', headers, body })
    if (response.status !== 201) throw new Error(`a send was answered ${response.status}`)
    // One at a time, so that each message finds the gateway idle.
    await pause(25)
  }
  while (arrivals.length < messages) await pause(10)
  source.close()
  const { rows } = await stage.pool.query<{ ms: number }>(
    `select extract(epoch from s."acceptedAt" - m."createdAt")::float8 * 1000 as ms from messages m join sandbox_messages s on s.reference = m.id::text`,
  )
  const calls = rows.map((row) => row.ms)
  // The timestamp is when the network reported the receipt, just before the commit, so the figure is an upper bound.
  const streams = arrivals.map(({ timestamp, at }) => at - timestamp)
  return [
    figure('commit to provider call, p99', percentile(calls, 0.99), 50),
    figure('commit to SSE subscriber, p99', percentile(streams, 0.99), 250),
  ]
}

function figure(name: string, ms: number, bound: number): Figures {
  return { name: `latency: ${name}`, unit: 'ms', baseline: bound, gateway: ms, ratio: ms / bound, target: `≤ ${bound} ms` }
}
