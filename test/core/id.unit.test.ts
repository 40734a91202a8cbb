// Ids: in order, of their time, and silent about how many others were made.
import { validate, version } from 'uuid'
import { expect, it } from 'vitest'
import { isId, newId } from '../../src/core/id.ts'

const ids = Array.from({ length: 20_000 }, newId)

/** The 32 bits that tell ids of one millisecond apart, in order. */
function countIn(id: string): number {
  const bits = BigInt(`0x${id.replaceAll('-', '')}`)
  const [high, low] = [(bits >> 64n) & 0xfffn, (bits >> 42n) & 0xfffffn]
  return Number((high << 20n) | low)
}

const millisecondOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

it('are UUID v7 of the moment, each above the one before', () => {
  expect(ids.filter((id) => !validate(id) || version(id) !== 7 || !isId(id))).toEqual([])
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  expect(Math.abs(millisecondOf(newId()) - Date.now())).toBeLessThan(60_000)
})

it('do not tell by two of one millisecond how many were made in between', () => {
  const steps = ids.slice(1).flatMap((id, n) => {
    const before = ids[n] as string
    return millisecondOf(id) === millisecondOf(before) ? [countIn(id) - countIn(before)] : []
  })
  expect(steps.length).toBeGreaterThan(1_000)
  expect(new Set(steps).size).toBeGreaterThan(steps.length / 4)
})
