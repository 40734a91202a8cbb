// Proves that the fields of forms hand over what was typed.
import { describe, expect, it } from 'vitest'
import { inputOf } from '../../src/console/web/send/input.ts'

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
