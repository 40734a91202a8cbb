// Proves that the fields of forms hand over what was typed, and ask the gateway for no number that it always refuses.
import { describe, expect, it } from 'vitest'
import { paceIn, paceSaid } from '../../src/console/web/campaigns/campaign-input.ts'
import { isPhone } from '../../src/console/web/graph/is-phone.ts'
import { inputOf } from '../../src/console/web/send/input.ts'
import { phone } from '../../src/core/phone.ts'

describe('a number to send to', () => {
  it('is asked for once it is as long as one that the gateway takes', () => {
    const started = ['+', '+1', '+491511', '+4915112']
    const whole = ['+49151123', '+4915112345678', '+861381234567890']
    const verdicts = (of: (text: string) => boolean) => [...started, ...whole, '+8613812345678901'].map(of)
    expect(verdicts(isPhone)).toEqual([...started.map(() => false), ...whole.map(() => true), false])
    expect(started.map((text) => phone.safeParse(text).success)).toEqual(started.map(() => false))
  })
})

describe('a field for a number', () => {
  it.each([
    ['52.5', 52.5],
    ['-7', -7],
    ['52,5', '52,5'],
    ['north', 'north'],
    [' ', ' '],
  ])('that says %j hands over %j', (said, handed) => {
    const form = new FormData()
    form.set('latitude', said)
    form.set('longitude', '13.4')
    expect(inputOf(form, 'location')).toMatchObject({ latitude: handed, longitude: 13.4 })
  })
})

it.each([
  ['60', 60],
  [' 60 ', 60],
  ['-1', -1],
  ['1.000', '1.000'],
  ['1e3', '1e3'],
])('a field for a whole number that says %j hands over %j', (said, handed) => {
  const form = new FormData()
  form.set('ratePerMinute', said)
  expect(paceIn(form).ratePerMinute).toBe(handed)
})

it('the rate of a campaign that is made again is the given one, and not the default of the earlier', () => {
  const quietHours = { from: '21:00', to: '07:00', timeZone: 'UTC' }
  expect(paceSaid({}, { ownRatePerMinute: null, quietHours })).toEqual({ ratePerMinute: null, quietHours })
  expect(paceSaid({}, { ownRatePerMinute: 12, quietHours })).toEqual({ ratePerMinute: 12, quietHours })
})
