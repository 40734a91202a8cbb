// The pace of an instance: a random time between two messages.
import { expect, it } from 'vitest'
import { createPacer } from '../../src/providers/web/pace.ts'

function paced(shares: number[]) {
  const clock = { at: 0 }
  const pacer = createPacer(
    () => clock.at,
    () => shares.shift() ?? 0,
  )
  return { clock, pacer }
}

it('lies between the bounds, by chance for each message', () => {
  const { clock, pacer } = paced([0, 1, 0.5])
  const pace = { minMs: 1_000, maxMs: 3_000 }
  const waits: number[] = []
  for (let i = 0; i < 3; i++) {
    waits.push(pacer.take(pace))
    clock.at += waits[i] as number
    expect(pacer.take(pace)).toBe(0)
  }
  expect(waits).toEqual([1_000, 3_000, 2_000])
})

it('holds over a change of the process, because the first message of a new holder waits too', () => {
  const { clock, pacer } = paced([0, 0])
  expect(pacer.take({ minMs: 500, maxMs: 500 })).toBe(500)
  clock.at = 500
  expect(pacer.take({ minMs: 500, maxMs: 500 })).toBe(0)
})

it('can be none', () => {
  const { pacer } = paced([])
  for (let i = 0; i < 3; i++) expect(pacer.take({ minMs: 0, maxMs: 0 })).toBe(0)
})
