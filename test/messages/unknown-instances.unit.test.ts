// Messages through instances that do not exist do not displace what the safety rules have read of others.
import { expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { safetyCache } from '../../src/messages/safety/safety.ts'

it('reads the traffic of an instance once, however many that do not exist are named meanwhile', async () => {
  let reads = 0
  const traffic = { history: false, recipients: [], minutes: [], inboundReplies24h: 0, inboundReplies7d: 0 }
  async function query({ values: [, ids] }: { values: [number, string[]] }) {
    const position = ids.indexOf('known')
    if (position < 0) return { rows: [] }
    reads++
    return { rows: [{ ...traffic, instanceId: 'known', position }] }
  }
  const cache = safetyCache({ pool: { query }, config: { messageTtlMs: 1 } } as unknown as App)
  const load = (ids: string[]) => cache.load(ids.map((instanceId) => ({ instanceId, to: '+393331234567' })))
  await load(['known'])
  for (let bulk = 0; bulk < 11; bulk++) await load(Array.from({ length: 1_000 }, (_, i) => `unknown ${bulk} ${i}`))
  await load(['known'])
  expect(reads).toBe(1)
})
