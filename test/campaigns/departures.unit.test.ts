// When the messages of a campaign leave: by its rate, and never in its quiet hours.
import { describe, expect, it } from 'vitest'
import { departures, lastDeparture, type Schedule } from '../../src/campaigns/departures.ts'
import { quietUntil } from '../../src/campaigns/quiet-hours.ts'

const start = new Date('2026-05-01T10:00:00Z')
const night = { from: '22:00', to: '08:00', timeZone: 'Europe/Berlin' }

function take(count: number, schedule: Schedule): Date[] {
  const taken: Date[] = []
  for (const at of departures(schedule)) if (taken.push(at) >= count) break
  return taken
}

function first(count: number, schedule: Schedule): string[] {
  return take(count, schedule).map((at) => at.toISOString())
}

describe('departures', () => {
  it('follow each other at the rate', () => {
    expect(first(3, { start, rate: 30, quietHours: null })).toEqual([
      '2026-05-01T10:00:00.000Z',
      '2026-05-01T10:00:02.000Z',
      '2026-05-01T10:00:04.000Z',
    ])
    expect(lastDeparture({ start, rate: 60, quietHours: null }, 100_000)).toEqual(new Date(start.getTime() + 99_999_000))
  })

  it('are all at once without a rate, and have no time for the last one', () => {
    expect(new Set(first(9, { start, rate: null, quietHours: null }))).toEqual(new Set([start.toISOString()]))
    expect(lastDeparture({ start, rate: null, quietHours: null }, 9)).toBeNull()
  })

  it('wait for the end of the quiet hours, at the beginning and each night', () => {
    const late = new Date('2026-05-01T21:30:00Z')
    expect(first(1, { start: late, rate: 1, quietHours: night })).toEqual(['2026-05-02T06:00:00.000Z'])
    const evening = new Date('2026-05-01T19:58:00Z')
    expect(first(4, { start: evening, rate: 1, quietHours: night })).toEqual([
      '2026-05-01T19:58:00.000Z',
      '2026-05-01T19:59:00.000Z',
      '2026-05-02T06:00:00.000Z',
      '2026-05-02T06:01:00.000Z',
    ])
  })

  // The clocks skip 02:15 in that time.
  const skipped = { ...night, from: '02:15' }
  it.each([night, { ...night, from: '08:00', to: '22:00' }, { ...night, timeZone: 'America/St_Johns' }, skipped])(
    'never fall into quiet hours, over a change of the clocks too: %o',
    (quietHours) => {
      const schedule = { start: new Date('2026-03-27T05:00:00Z'), rate: 1, quietHours }
      const all = take(5_000, schedule)
      expect(all.filter((at) => quietUntil(quietHours, at) !== null)).toEqual([])
      expect(all).toEqual(all.toSorted((a, b) => a.getTime() - b.getTime()))
      expect(lastDeparture(schedule, 5_000)).toEqual(all.at(-1))
    },
  )

  it('are told for about a year of quiet hours', () => {
    const mostOfTheDay = { from: '08:01', to: '08:00', timeZone: 'UTC' }
    expect(lastDeparture({ start, rate: 1, quietHours: mostOfTheDay }, 360)).toEqual(new Date('2027-04-26T08:00:00Z'))
    expect(lastDeparture({ start, rate: 1, quietHours: mostOfTheDay }, 100_000)).toBeNull()
  })
})
