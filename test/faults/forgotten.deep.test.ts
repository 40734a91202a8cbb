// The network between gateways and their database forgets connections without closing them, or brings nothing for a while.
import { expect, it } from 'vitest'
import { openSse } from '../events/sse.ts'
import { api } from '../kit/api.ts'
import { startGateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openLine } from '../kit/own-line.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from '../webhooks/receiver.ts'
import { openStage, persist, plainNumber, type Stage, startLoad, text } from './rig.ts'

/** All work goes on so long after a fault at the latest. */
const promisedMs = 12_000

const env = { RATE_LIMIT_PER_SECOND: '100000', LOG_LEVEL: 'info' }

/** Sends a message to a new number. Returns how long it took until it was accepted, read, streamed and delivered to the receiver. */
async function follow(stage: Stage, gateway: { url: string }, seen: () => readonly string[], hooks: () => readonly string[]) {
  const begun = performance.now()
  const since = () => Math.round(performance.now() - begun)
  const { body } = await persist(stage.account, () => gateway, 'messages/send', text(stage.sure, plainNumber()))
  const accepted = since()
  const id: string = body.data.id
  const times = { accepted, streamed: 0, delivered: 0 }
  const isRead = (text: string) => text.includes(id) && text.includes('message.read')
  await Promise.all([
    until(() => seen().some(isRead), { timeoutMs: 60_000 }).then(() => {
      times.streamed = since()
    }),
    until(() => hooks().some(isRead), { timeoutMs: 60_000 }).then(() => {
      times.delivered = since()
    }),
  ])
  return times
}

it('accepts, sends, streams and delivers again soon after the network forgot all connections under load', async () => {
  const stage = await openStage()
  const line = await openLine(stage.databaseUrl)
  const gateway = await startGateway({ databaseUrl: line.url, env })
  const receiver = await openReceiver()
  const created = await api(gateway, stage.account.apiKey).post('webhooks', { url: receiver.url, events: ['message.read'] })
  expect(created.status).toBe(201)
  const stream = await openSse(`${gateway.url}/api/v1/events/stream`, { headers: { 'x-api-key': stage.account.apiKey } })
  const load = startLoad(
    stage.account,
    () => gateway,
    () => text(stage.sure),
    8,
    20,
  )
  const seen = () => stream.events.map(({ event, data }) => `${event} ${data}`)
  const hooks = () => receiver.requests.map(({ body }) => body)
  await until(() => load.acknowledged.length >= 60 && hooks().length >= 20)
  line.forget()
  const times = await follow(stage, gateway, seen, hooks)
  await load.stop()
  console.log(`net-forget: ${JSON.stringify(times)} ms; ${load.answers.filter(({ status }) => status === 503).length} of 503`)
  expect(Math.max(...Object.values(times)), JSON.stringify(times)).toBeLessThan(promisedMs)
  await expectInvariants(stage.databaseUrl, { acknowledged: load.acknowledged, messages: load.acknowledged.length + 1 })
}, 120_000)
