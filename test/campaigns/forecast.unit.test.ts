// Proves how the planned messages of a campaign spread over the next days.
import { expect, it } from 'vitest'
import { spread } from '../../src/campaigns/forecast.ts'

const from = new Date('2026-11-25T06:00:00Z')
const plan = { planned: 1_000, rate: null, startsAt: from, quiet: null }
const quiet = { from: '20:00', to: '08:00', timeZone: 'Europe/Rome' }

it.each([
  ['all on the day of its start without a rate', plan, [1_000, 0, 0]],
  ['from its start on', { ...plan, startsAt: new Date('2026-11-26T07:00:00Z') }, [0, 1_000, 0]],
  ['at its rate', { ...plan, planned: 4_000, rate: 1 }, [1_440, 1_440, 1_120]],
  ['fewer on the day in which it starts', { ...plan, rate: 0.5, startsAt: new Date('2026-11-25T18:00:00Z') }, [360, 640, 0]],
  ['none in quiet hours', { ...plan, planned: 2_000, rate: 1, quiet }, [720, 720, 560]],
  ['none after the days that are asked for', { ...plan, startsAt: new Date('2026-12-25T07:00:00Z') }, [0, 0, 0]],
  ['from now on if its start is over', { ...plan, startsAt: new Date(0) }, [1_000, 0, 0]],
])('%s', (_, campaign, days) => {
  expect(spread(campaign, from, 3)).toEqual(days)
})
