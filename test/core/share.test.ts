// Large operations of one caller wait for each other, in their order, and for nobody else's.
import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { type Room, takeRoom } from '../../src/core/share.ts'

const mebi = 1024 * 1024
let callers = 0
const caller = () => `caller ${callers++}`

/** Whether room was given by now. */
async function given(room: Promise<Room>): Promise<boolean> {
  return await Promise.race([room.then(() => true), new Promise<false>((resolve) => setImmediate(() => resolve(false)))])
}

function sending() {
  return Object.assign(new EventEmitter(), { destroyed: false, closed: false })
}

it('lets as many run at once as fit, and the others in their order', async () => {
  const one = caller()
  const first = await takeRoom(one, 20 * mebi)
  const second = await takeRoom(one, 12 * mebi)
  const third = takeRoom(one, 2 * mebi)
  const fourth = takeRoom(one, 31 * mebi)
  const fifth = takeRoom(one, 1 * mebi)
  expect(await Promise.all([third, fourth, fifth].map(given))).toEqual([false, false, false])
  second.keepUntilSent(0)
  expect(await Promise.all([third, fourth, fifth].map(given))).toEqual([true, false, false])
  first.keepUntilSent(0)
  expect(await given(fourth)).toBe(false)
  ;(await third).keepUntilSent(0)
  expect(await Promise.all([fourth, fifth].map(given))).toEqual([true, true])
})

it('lets what is larger than all room run alone', async () => {
  const one = caller()
  const alone = await takeRoom(one, 500 * mebi)
  const next = takeRoom(one, mebi)
  expect(await given(next)).toBe(false)
  alone.keepUntilSent(0)
  expect(await given(next)).toBe(true)
})

it('lets others, and what is small, pass by', async () => {
  const one = caller()
  await takeRoom(one, 500 * mebi)
  expect(await given(takeRoom(caller(), 500 * mebi))).toBe(true)
  expect(await given(takeRoom(one, 1024))).toBe(true)
})

it('keeps room for an answer until it was sent, or cut', async () => {
  const one = caller()
  const response = sending()
  const room = await takeRoom(one, 32 * mebi, response)
  const next = takeRoom(one, 20 * mebi)
  room.keepUntilSent(16 * mebi)
  expect(await given(next)).toBe(false)
  response.emit('close')
  expect(await given(next)).toBe(true)
  const cut = { ...sending(), closed: true, once: () => undefined }
  ;(await takeRoom(one, mebi, cut)).keepUntilSent(mebi)
  expect(await given(takeRoom(one, 12 * mebi))).toBe(true)
})

it('gives nothing to who went away meanwhile, and lets the next in', async () => {
  const one = caller()
  const first = await takeRoom(one, 32 * mebi)
  const response = sending()
  const second = takeRoom(one, 32 * mebi, response)
  const third = takeRoom(one, 32 * mebi)
  response.destroyed = true
  first.keepUntilSent(0)
  await expect(second).rejects.toMatchObject({ extensions: { code: 'API_RATE_LIMIT_EXCEEDED' } })
  expect(await given(third)).toBe(true)
})

it('lets no more than a hundred wait', async () => {
  const one = caller()
  await takeRoom(one, 32 * mebi)
  for (let i = 0; i < 100; i++) void takeRoom(one, mebi)
  await expect(takeRoom(one, mebi)).rejects.toMatchObject({ extensions: { code: 'API_RATE_LIMIT_EXCEEDED' } })
})
