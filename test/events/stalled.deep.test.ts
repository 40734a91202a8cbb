// Readers that stop reading, or read slowly, cost bounded memory and delay no other reader.
import { expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { holdingsOf, inspectable } from '../kit/holdings.ts'
import { until } from '../kit/until.ts'
import { graphqlNumbers, happen, liveEnv, metric, openGraphql, openLiveRig, openPlain, openStreams } from './live-rig.ts'
import { plainNumbers, upTo } from './rig.ts'
import type { SseReader } from './sse.ts'

it('caps memory for a stalled reader, cuts it within 20 s, delays nobody, and lets it resume', { timeout: 180_000 }, async () => {
  const databaseUrl = await cloneDatabase()
  const gateway = await startGateway({ databaseUrl, env: { ...liveEnv, ...inspectable } })
  const live = await openLiveRig({ databaseUrl, gateway })
  const rounds = 1_000
  const healthy = [await openPlain(live), await openGraphql(live)]
  let emitted = 0
  /** Emits 12 MB of events, which the healthy readers receive at once. */
  const flood = async () => {
    for (const end = emitted + rounds; emitted < end; emitted += 50) await happen(live, 50, emitted, 'x'.repeat(12_000))
    await until(() => healthy.every((reader) => reader.events.length === emitted))
  }
  await flood()
  await flood()
  const stalled = [await openPlain(live), await openGraphql(live), await openPlain(live)]
  const beginning = emitted
  await happen(live, 1, emitted++)
  await until(() => stalled.every((reader) => reader.events.length === 1))
  for (const reader of stalled) reader.pause()

  // If these events were held for the stalled readers, they would take 120 MB: 60 MB as the text of each endpoint.
  const before = await holdingsOf(gateway)
  for (let i = 0; i < 5; i++) await flood()
  const after = await holdingsOf(gateway)
  expect(after.heapBytes - before.heapBytes).toBeLessThan(10 * 1024 * 1024)

  const lags: number[] = []
  await until(
    async () => {
      const at = Date.now()
      const seen = healthy[0]?.events.length ?? 0
      await happen(live, 1, emitted++)
      await until(() => healthy.every((reader) => reader.events.length > seen), { everyMs: 2 })
      lags.push(Date.now() - at)
      return (await metric(live, 'gateway_stalled_streams_total')) === 3
    },
    { timeoutMs: 20_000, everyMs: 100 },
  )
  // Far below the 15 s for which the gateway waits for a stalled reader, even on a busy machine.
  expect(lags.sort((a, b) => a - b)[Math.floor(lags.length * 0.9)]).toBeLessThan(2_000)
  await openStreams(live, 2)

  // Every ten seconds each stream gets a heartbeat with its current cursor.
  await until(() => healthy.every((reader) => reader.others.some(({ id, retry }) => id && !retry)), { timeoutMs: 15_000 })

  for (const reader of stalled) reader.resume()
  await until(() => stalled.every((reader) => reader.ended))
  const [plain] = stalled as [SseReader]
  const again = await openPlain(live, plain.events.at(-1)?.id)
  await until(() => plain.events.length + again.events.length === emitted - beginning)
  expect([...plainNumbers(plain), ...plainNumbers(again)]).toEqual(upTo(emitted).slice(beginning))
})

it('delivers every event to a reader that is only slow', async () => {
  const live = await openLiveRig()
  const slow = await openGraphql(live)
  const padding = 'x'.repeat(4_000)
  let paused = true
  const flicker = setInterval(() => {
    paused = !paused
    if (paused) slow.pause()
    else slow.resume()
  }, 15)
  for (let n = 0; n < 3_000; n += 60) await happen(live, 60, n, padding)
  await until(() => slow.events.length === 3_000)
  clearInterval(flicker)
  expect(graphqlNumbers(slow)).toEqual(upTo(3_000))
})
