// The pace of a campaign: spread evenly at any rate, however late its jobs start, and the hours in which it rests.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dueNow, nextAtNewRate, nextMoment, stepAt } from '../../src/campaigns/pace.ts'
import { nextQuiet, quietHours, quietUntil } from '../../src/campaigns/quiet-hours.ts'

const start = Date.parse('2026-05-01T10:00:00Z')
const at = (ms: number) => new Date(start + ms)

/** The times, in ms, at which messages leave, when each job starts `lateMs` after its moment. */
function play(rate: number, lateMs: () => number, untilMs: number): number[] {
  const times: number[] = []
  let nextAt: Date | null = null
  for (let now = 0; now < untilMs; ) {
    const due = dueNow({ rate, nextAt }, at(now))
    for (let i = 0; i < due; i++) times.push(now)
    if (due > 0) nextAt = nextMoment(nextAt, rate, due, at(now))
    now = stepAt(nextAt as Date, at(now), null).getTime() - start + lateMs()
  }
  return times
}

function mostWithin(times: readonly number[], spanMs: number): number {
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while ((times[first] as number) <= (times[last] as number) - spanMs) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

describe('the pace', () => {
  const late = fc.array(fc.nat(1_500), { minLength: 1, maxLength: 20 })
  const cycle = (delays: readonly number[]) => {
    let i = 0
    return () => delays[i++ % delays.length] as number
  }

  it('never has more at once than a tenth of a minute, nor more in a minute than the rate and that tenth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6_000 }), late, (rate, delays) => {
        const times = play(rate, cycle(delays), 90_000)
        const tenth = Math.max(1, Math.floor(rate / 10))
        expect(mostWithin(times, 1)).toBeLessThanOrEqual(tenth)
        expect(mostWithin(times, 60_000)).toBeLessThanOrEqual(rate + tenth)
      }),
      { numRuns: 30 },
    )
  })

  it('reaches the rate, although jobs start late', () => {
    for (const rate of [1, 5, 10, 59, 60, 61, 600, 6_000]) {
      const sent = play(rate, cycle([0, 700, 300, 1_200]), 300_000).length
      expect(sent / 5, `at ${rate}`).toBeGreaterThanOrEqual(rate * 0.97)
    }
  })

  it('begins anew after a crash or a pause, instead of making up for it', () => {
    const nextAt = at(0)
    expect(dueNow({ rate: 600, nextAt }, at(60_000))).toBe(1)
    expect(nextMoment(nextAt, 600, 1, at(60_000))).toEqual(at(60_100))
    expect(dueNow({ rate: 600, nextAt }, at(1_000))).toBe(11)
    expect(dueNow({ rate: 600, nextAt }, at(-1))).toBe(0)
    expect(dueNow({ rate: null, nextAt: null }, at(0))).toBe(Number.POSITIVE_INFINITY)
  })

  it('follows a new rate soon, and no sooner', () => {
    expect(nextAtNewRate(at(60_000), 60, at(0))).toEqual(at(1_000))
    expect(nextAtNewRate(at(500), 60, at(0))).toEqual(at(500))
    expect(nextAtNewRate(null, 60, at(0))).toBeNull()
    expect(nextAtNewRate(at(60_000), null, at(0))).toBeNull()
  })
})

describe('quiet hours', () => {
  it('start a step when they begin, where the next message leaves later', () => {
    expect(stepAt(at(60_000), at(0), at(20_000))).toEqual(at(20_000))
    expect(stepAt(at(10_000), at(0), at(20_000))).toEqual(at(10_000))
  })

  const night = { from: '21:00', to: '08:00', timeZone: 'Europe/Rome' }
  const until = (quiet: typeof night, now: string) => quietUntil(quiet, new Date(now))?.toISOString() ?? null

  it.each([
    ['before them', '2026-05-01T18:59:59Z', null],
    ['at their first moment', '2026-05-01T19:00:00Z', '2026-05-02T06:00:00.000Z'],
    ['after midnight', '2026-05-01T23:30:00Z', '2026-05-02T06:00:00.000Z'],
    ['at their last moment', '2026-05-02T05:59:59.999Z', '2026-05-02T06:00:00.000Z'],
    ['at their end', '2026-05-02T06:00:00Z', null],
    ['in the night that loses an hour to daylight saving', '2026-03-28T20:00:00Z', '2026-03-29T06:00:00.000Z'],
    ['in the night that gains an hour', '2026-10-24T19:00:00Z', '2026-10-25T07:00:00.000Z'],
    ['in the winter', '2026-01-31T20:00:00Z', '2026-02-01T07:00:00.000Z'],
  ])('over a night, %s', (_, now, end) => {
    expect(until(night, now)).toBe(end)
  })

  it('end when the clocks are put forward, if that skips their end', () => {
    expect(until({ ...night, to: '02:30' }, '2026-03-29T00:59:59Z')).toBe('2026-03-29T01:00:00.000Z')
    expect(until({ ...night, to: '02:30' }, '2026-03-29T01:00:00Z')).toBeNull()
    const howe = { from: '21:00', to: '02:10', timeZone: 'Australia/Lord_Howe' }
    expect(until(howe, '2026-10-03T15:29:00Z')).toBe('2026-10-03T15:30:00.000Z')
  })

  it.each([
    ['at the first of two 02:30, when the clocks go back', '02:30', '06:00', '2026-10-24T20:00:00Z', '2026-10-25T00:30:00.000Z'],
    ['again when the clocks go back into them', '21:00', '02:30', '2026-10-25T00:30:00Z', '2026-10-25T01:00:00.000Z'],
    ['a day later, if the clocks skip them', '02:00', '02:30', '2026-03-28T12:00:00Z', '2026-03-30T00:00:00.000Z'],
    [
      'when the clocks are put forward, if that skips their begin',
      '02:30',
      '06:00',
      '2026-03-28T12:00:00Z',
      '2026-03-29T01:00:00.000Z',
    ],
    ['after the present ones', '21:00', '08:00', '2026-05-01T19:00:00Z', '2026-05-02T19:00:00.000Z'],
  ])('begin next %s', (_, from, to, now, begin) => {
    expect(nextQuiet({ ...night, from, to }, new Date(now))?.toISOString()).toBe(begin)
  })

  it('within a day, and in any zone', () => {
    const noon = { from: '12:00', to: '14:30', timeZone: 'Asia/Kathmandu' }
    expect(until(noon, '2026-05-01T06:14:00Z')).toBeNull()
    expect(until(noon, '2026-05-01T06:15:00Z')).toBe('2026-05-01T08:45:00.000Z')
    expect(until(noon, '2026-05-01T08:45:00Z')).toBeNull()
    expect(until({ from: '00:00', to: '23:59', timeZone: 'UTC' }, '2026-05-01T23:59:30Z')).toBeNull()
  })

  it('end at a later moment than the present, at any time of any year and in any zone', () => {
    const time = fc.tuple(fc.nat(23), fc.nat(59)).map((parts) => parts.map((part) => String(part).padStart(2, '0')).join(':'))
    const zone = fc.constantFrom('Europe/Rome', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'UTC')
    const moment = fc.date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true })
    fc.assert(
      fc.property(time, time, zone, moment, (from, to, timeZone, now) => {
        fc.pre(from !== to)
        const end = quietUntil({ from, to, timeZone }, now)
        if (!end) return
        expect(end.getTime()).toBeGreaterThan(now.getTime())
        expect(end.getTime() - now.getTime()).toBeLessThanOrEqual(25 * 3_600_000)
      }),
    )
  })

  it.each([
    [{ ...night, from: '24:00' }],
    [{ ...night, to: '8:00' }],
    [{ ...night, timeZone: 'Europe/Nowhere' }],
    [{ ...night, timeZone: '+02:00' }],
    [{ ...night, to: '21:00' }],
    [{ from: '21:00', to: '08:00' }],
  ])('are refused as %j', (value) => {
    expect(quietHours.safeParse(value).success).toBe(false)
  })
})
