// Look-ups over a connection end with the wait of their caller: the network is not asked for answers that nobody reads.
import { afterEach, expect, it, vi } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Live } from '../../src/providers/web/live.ts'
import { askNetwork } from '../../src/providers/web/lookup.ts'

afterEach(() => void vi.useRealTimers())

it('asks for no further batch when the caller has given up, and lets the next look-up begin', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const app = { pool: { query: async () => ({ rows: [] }) } } as unknown as App
  const asked: number[] = []
  const onWhatsApp = async (...numbers: string[]) => {
    asked.push(numbers.length)
    // The network takes longer than any caller waits.
    vi.advanceTimersByTime(8_000)
    return []
  }
  const live = { socket: { onWhatsApp } } as unknown as Live
  const numbers = Array.from({ length: 45 }, (_, n) => `+3933312345${10 + n}`)
  expect(Object.keys(await askNetwork(app, 'instance', live, numbers))).toEqual(numbers.slice(0, 20))
  await askNetwork(app, 'instance', live, numbers.slice(0, 5))
  expect(asked).toEqual([20, 5])
})
