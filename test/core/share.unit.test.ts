// Proves that requests which need much memory wait for capacity: each caller has a share, and no caller waits for another's.
import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { createShare, type Reservation } from '../../src/core/share.ts'

const options = { lightBytes: 1, perCaller: 32, total: 80, mostWaiting: 100, waitMs: 60_000 }
const refusal = { extensions: { code: 'API_RATE_LIMIT_EXCEEDED' }, retryAfterSeconds: 1 }

/** Runs all due tasks, and returns for each reservation whether it was granted. */
async function given(...reservations: Promise<Reservation>[]): Promise<boolean[]> {
  await new Promise(setImmediate)
  const pending = Symbol('pending')
  return await Promise.all(reservations.map(async (reservation) => (await Promise.race([reservation, pending])) !== pending))
}

function sending() {
  return Object.assign(new EventEmitter(), { destroyed: false, closed: false })
}

it('runs as many requests of a caller at once as fit, and the others in order', async () => {
  const share = createShare(options)
  const first = await share.take('a', 20)
  const second = await share.take('a', 12)
  const third = share.take('a', 2)
  const fourth = share.take('a', 31)
  const fifth = share.take('a', 3)
  expect(await given(third, fourth, fifth)).toEqual([false, false, false])
  second.keepUntilSent(0)
  expect(await given(third, fourth, fifth)).toEqual([true, false, false])
  first.keepUntilSent(0)
  expect(await given(fourth)).toEqual([false])
  ;(await third).keepUntilSent(0)
  expect(await given(fourth, fifth)).toEqual([true, false])
  ;(await fourth).keepUntilSent(0)
  expect(await given(fifth)).toEqual([true])
})

it('runs a request alone that is larger than the share', async () => {
  const share = createShare(options)
  const alone = await share.take('a', 500)
  const next = share.take('a', 2)
  expect(await given(next)).toEqual([false])
  alone.keepUntilSent(0)
  expect(await given(next)).toEqual([true])
})

it('admits another caller while one waits for its own share, and lets small requests pass', async () => {
  const share = createShare(options)
  await share.take('a', 32)
  expect(await given(share.take('a', 2), share.take('b', 32), share.take('a', 1))).toEqual([false, true, true])
})

it('limits all callers together to the capacity of the process', async () => {
  const share = createShare(options)
  const a = await share.take('a', 32)
  await share.take('b', 32)
  const c = share.take('c', 32)
  expect(await given(c, share.take('d', 16))).toEqual([false, true])
  a.keepUntilSent(0)
  expect(await given(c)).toEqual([true])
})

it('holds the capacity of an answer until it is sent or cut off', async () => {
  const share = createShare(options)
  const response = sending()
  const reservation = await share.take('a', 32, response)
  const next = share.take('a', 20)
  reservation.keepUntilSent(16)
  expect(await given(next)).toEqual([false])
  response.emit('close')
  expect(await given(next)).toEqual([true])
  const cut = { ...sending(), closed: true, once: () => undefined }
  ;(await share.take('a', 2, cut)).keepUntilSent(2)
  expect(await given(share.take('a', 12))).toEqual([true])
})

it('grants nothing to a client that disconnected while waiting, and admits the next', async () => {
  const share = createShare(options)
  const first = await share.take('a', 32)
  const response = sending()
  const second = share.take('a', 32, response)
  const third = share.take('a', 32)
  response.destroyed = true
  first.keepUntilSent(0)
  await expect(second).rejects.toMatchObject(refusal)
  expect(await given(third)).toEqual([true])
})

it('limits the waiting requests of a caller, and refuses those that waited too long', async () => {
  const share = createShare({ ...options, mostWaiting: 2, waitMs: 10 })
  const first = await share.take('a', 32)
  const late = [share.take('a', 20), share.take('a', 20)].map((reservation) => expect(reservation).rejects.toMatchObject(refusal))
  await expect(share.take('a', 20)).rejects.toMatchObject(refusal)
  await Promise.all(late)
  // The refused requests left the queue, so the next caller gets the whole share.
  first.keepUntilSent(0)
  expect(await given(share.take('a', 32))).toEqual([true])
})

it('says that the gateway has no capacity to a caller who waited for others too long, and not that the caller sends too much', async () => {
  const share = createShare({ ...options, mostWaiting: 2, waitMs: 0 })
  await Promise.all([share.take('a', 32), share.take('b', 32)])
  const busy = { extensions: { code: 'SERVICE_UNAVAILABLE' }, retryAfterSeconds: 1 }
  await expect(share.take('c', 32)).rejects.toMatchObject(busy)
  await expect(share.take('a', 32)).rejects.toMatchObject(refusal)
  const waiting = [share.take('c', 32), share.take('c', 32)].map((each) => expect(each).rejects.toMatchObject(busy))
  await expect(share.take('c', 32)).rejects.toMatchObject(refusal)
  await Promise.all(waiting)
})

it('admits the requests behind one that waited too long', async () => {
  const share = createShare({ ...options, waitMs: 200 })
  await share.take('a', 20)
  const large = share.take('a', 30)
  await expect(large).rejects.toMatchObject(refusal)
  const larger = share.take('a', 30)
  const refused = expect(larger).rejects.toMatchObject(refusal)
  const small = share.take('a', 12)
  expect(await given(small)).toEqual([false])
  await refused
  await small
})

it('admits callers in turn, so that one with many waiting requests does not keep the others waiting', async () => {
  const share = createShare({ ...options, perCaller: 80 })
  const all = await share.take('x', 80)
  const [first, second, third] = [share.take('a', 40), share.take('a', 40), share.take('a', 40)]
  const other = share.take('b', 40)
  all.keepUntilSent(0)
  expect(await given(first, second, third, other)).toEqual([true, false, false, true])
  ;(await other).keepUntilSent(0)
  expect(await given(second, third)).toEqual([true, false])
})
