// Proves that ids are ordered, contain their time, and do not reveal how many others were created.
import { validate, version } from 'uuid'
import { expect, it } from 'vitest'
import { isId, newId } from '../../src/core/id.ts'

const ids = Array.from({ length: 20_000 }, newId)

/** The 32 bits that order the ids of one millisecond. */
function countIn(id: string): number {
  const bits = BigInt(`0x${id.replaceAll('-', '')}`)
  const [high, low] = [(bits >> 64n) & 0xfffn, (bits >> 42n) & 0xfffffn]
  return Number((high << 20n) | low)
}

const millisecondOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

it('ids are UUID v7 of the current time, each greater than the one before', () => {
  expect(ids.filter((id) => !validate(id) || version(id) !== 7 || !isId(id))).toEqual([])
  expect([...ids].sort()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
  expect(Math.abs(millisecondOf(newId()) - Date.now())).toBeLessThan(60_000)
})

it('ids do not reveal how many others were created between two of one millisecond', () => {
  const steps = ids.slice(1).flatMap((id, n) => {
    const before = ids[n] as string
    return millisecondOf(id) === millisecondOf(before) ? [countIn(id) - countIn(before)] : []
  })
  expect(steps.length).toBeGreaterThan(1_000)
  expect(new Set(steps).size).toBeGreaterThan(steps.length / 4)
})
