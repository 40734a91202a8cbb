// A periodic query that has become slow is made less often.
import { expect, it } from 'vitest'
import { createLessOften } from '../../src/core/less-often.ts'

it('a query is due again twenty times as long after its begin as it took, after 30 s at the latest, and at once if it failed', async () => {
  let now = 0
  const lessOften = createLessOften(() => now)
  const take = async (ms: number) => {
    now += ms
    return ms
  }
  expect(lessOften.isDue()).toBe(true)
  expect(await lessOften.during(() => take(300))).toBe(300)
  now = 5_999
  expect(lessOften.isDue()).toBe(false)
  now = 6_000
  expect(lessOften.isDue()).toBe(true)
  await lessOften.during(() => take(5_000))
  now = 40_999
  expect(lessOften.isDue()).toBe(false)
  now = 41_000
  expect(lessOften.isDue()).toBe(true)
  await expect(lessOften.during(async () => Promise.reject(new Error(`after ${await take(10)} ms`)))).rejects.toThrow(
    'after 10 ms',
  )
  expect(lessOften.isDue()).toBe(true)
})
