// Large bodies wait for room: each caller has a share, and nobody waits for another's.
import { expect, it } from 'vitest'
import { createBodyMemory } from '../../src/core/body-memory.ts'

const options = { perCaller: 10, total: 25, waitMs: 60_000 }

/** Whether a promise is settled once everything that was due has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  await new Promise(setImmediate)
  return (await Promise.race([promise, pending])) !== pending
}

it('lets a caller hold its share, and what is more wait in order until room is given back', async () => {
  const memory = createBodyMemory(options)
  const [first] = await Promise.all([memory.take('a', 6), memory.take('a', 4)])
  const third = memory.take('a', 6)
  const fourth = memory.take('a', 6)
  expect(await isSettled(third)).toBe(false)
  first()
  expect(await isSettled(third)).toBe(true)
  expect(await isSettled(fourth)).toBe(false)
  ;(await third)()
  expect(await isSettled(fourth)).toBe(true)
})

it('lets another caller in past those who wait for their own share', async () => {
  const memory = createBodyMemory(options)
  await memory.take('a', 10)
  const waiting = memory.take('a', 1)
  expect(await isSettled(memory.take('b', 10))).toBe(true)
  expect(await isSettled(waiting)).toBe(false)
})

it('holds all callers to what the process has', async () => {
  const memory = createBodyMemory(options)
  const [a] = await Promise.all([memory.take('a', 10), memory.take('b', 10)])
  const c = memory.take('c', 10)
  expect(await isSettled(c)).toBe(false)
  expect(await isSettled(memory.take('d', 5))).toBe(true)
  a()
  expect(await isSettled(c)).toBe(true)
})

it('lets a body in that is larger than the share, alone', async () => {
  const memory = createBodyMemory(options)
  const all = await memory.take('a', 100)
  const next = memory.take('a', 1)
  expect(await isSettled(next)).toBe(false)
  all()
  expect(await isSettled(next)).toBe(true)
})

it('refuses who waited too long with 429 and when to come again, and forgets them', async () => {
  const memory = createBodyMemory({ ...options, waitMs: 10 })
  const giveBack = await memory.take('a', 10)
  await expect(memory.take('a', 5)).rejects.toMatchObject({
    extensions: { code: 'API_RATE_LIMIT_EXCEEDED' },
    retryAfterSeconds: 1,
  })
  giveBack()
  expect(await isSettled(memory.take('a', 10))).toBe(true)
})
