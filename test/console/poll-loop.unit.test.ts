// Proves that a window without a stream asks for the counters of a campaign one question at a time.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pollLoop } from '../../src/console/web/graph/poll-loop.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('asks one question at a time, however often it is told to, and none after its end', async () => {
  let questions = 0
  const loop = pollLoop(
    async () => void (await new Promise((answer) => setTimeout(answer, 100, questions++))),
    () => loop.ask(),
    2_000,
  )
  for (let n = 0; n < 5; n++) loop.ask()
  await vi.advanceTimersByTimeAsync(50)
  loop.ask()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(questions).toBe(1)
  for (let n = 0; n < 5; n++) loop.ask()
  await vi.advanceTimersByTimeAsync(20_900)
  expect(questions).toBe(11)
  loop.stop()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(questions).toBe(11)
})
