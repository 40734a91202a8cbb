// A look that has become slow is made less often.
import { expect, it } from 'vitest'
import { createPace } from '../../src/core/pace.ts'

it('a look is due again when twenty times as long has passed as it took, whether it failed or not', async () => {
  let now = 0
  const pace = createPace(() => now)
  const take = async (ms: number) => {
    now += ms
    return ms
  }
  expect(pace.isDue()).toBe(true)
  expect(await pace.during(() => take(300))).toBe(300)
  now = 5_999
  expect(pace.isDue()).toBe(false)
  now = 6_000
  expect(pace.isDue()).toBe(true)
  await expect(pace.during(async () => Promise.reject(new Error(`after ${await take(10)} ms`)))).rejects.toThrow('after 10 ms')
  now = 6_199
  expect(pace.isDue()).toBe(false)
  now = 6_200
  expect(pace.isDue()).toBe(true)
})
