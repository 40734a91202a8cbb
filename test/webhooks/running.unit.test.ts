// The limit on webhook attempts: whoever waits for room gets it, whatever the one before makes of its own.
import { expect, it } from 'vitest'
import { createRunning, type Running } from '../../src/webhooks/running.ts'

const lease = (id: string) => ({ id, token: 'token' })
const idsIn = (running: Running) => running.leases().map(({ id }) => id)

it('lets all that wait begin, in order, even if those before add nothing', async () => {
  const running = createRunning(2)
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  for (const [i, { promise }] of ends.entries()) running.add(lease(`attempt ${i}`), promise)
  const begun: number[] = []
  const calls = [1, 2, 3].map((n) => running.whenFree(async () => begun.push(n)))
  await Promise.resolve()
  expect(begun).toEqual([])
  ends[0]?.resolve()
  await Promise.all(calls)
  expect(begun).toEqual([1, 2, 3])
})

it('lets the next begin when one fails', async () => {
  const running = createRunning(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  running.add(lease('attempt'), promise)
  const failing = running.whenFree(async () => {
    throw new Error('the database is lost')
  })
  const next = running.whenFree(async () => 'begun')
  resolve()
  await expect(failing).rejects.toThrow('the database is lost')
  expect(await next).toBe('begun')
})

it('lets nothing begin while there are as many attempts as it may have', async () => {
  const running = createRunning(1)
  const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  running.add(lease('first'), ends[0]?.promise as Promise<void>)
  const second = running.whenFree(async () => running.add(lease('second'), ends[1]?.promise as Promise<void>))
  const third = running.whenFree(async () => idsIn(running))
  ends[0]?.resolve()
  await second
  expect(idsIn(running)).toEqual(['second'])
  ends[1]?.resolve()
  expect(await third).toEqual([])
})

it('has ended only after what was beginning has begun and ended too', async () => {
  const running = createRunning(2)
  const claim = Promise.withResolvers<void>()
  const attempt = Promise.withResolvers<void>()
  const begun = running.whenFree(async () => {
    await claim.promise
    running.add(lease('attempt'), attempt.promise)
  })
  let ended = false
  const all = running.ended().then(() => {
    ended = true
  })
  claim.resolve()
  await begun
  expect([idsIn(running), ended]).toEqual([['attempt'], false])
  attempt.resolve()
  await all
  expect(idsIn(running)).toEqual([])
})

it('keeps the lease of a second attempt of a delivery when the first one, which lost its lease, ends', async () => {
  const running = createRunning(2)
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  running.add({ id: 'delivery', token: 'first' }, first.promise)
  running.add({ id: 'delivery', token: 'second' }, second.promise)
  let hasRoom = false
  const begun = running.whenFree(async () => {
    hasRoom = true
  })
  await Promise.resolve()
  expect(hasRoom).toBe(false)
  first.resolve()
  await begun
  expect(running.leases()).toEqual([{ id: 'delivery', token: 'second' }])
  second.resolve()
  await running.ended()
  expect(running.leases()).toEqual([])
})
