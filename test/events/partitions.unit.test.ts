// A partition of the event log holds the events of about a day.
import { expect, it } from 'vitest'
import { partitionSize } from '../../src/events/log/partitions.ts'

const day = 86_400

it.each([
  ['a log that just began', 1, 0, 1_000_000n],
  ['a hundred events a day', 100, day, 1_000_000n],
  ['a million in a day', 1_000_000, day, 1_000_000n],
  ['a million in half a day', 1_000_000, day / 2, 2_000_000n],
  ['a million in a quarter of an hour, which is the most', 1_000_000, 900, 50_000_000n],
])('%s', (_, count, seconds, size) => {
  expect(partitionSize(count, seconds)).toBe(size)
})
