// The action after a closed connection, by the network's code, and the delay of the next attempt.
import { describe, expect, it } from 'vitest'
import { actionFor, reconnectDelayMs } from '../../src/providers/web/closing.ts'

const closed = { message: '', paired: true, shown: false }

describe('a closed connection', () => {
  it.each([
    [515, 'restart'],
    [408, 'retry'],
    [428, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
    [440, 'check_holder'],
    [401, 'forget'],
    [403, 'forget'],
    [406, 'forget'],
    [402, 'wait'],
    [405, 'renew'],
    [409, 'stop'],
    [411, 'stop'],
    [413, 'stop'],
    [418, 'stop'],
  ])('with code %i means %s', (code, action) => {
    expect(actionFor({ ...closed, code }).do).toBe(action)
  })

  it('with code 515 soon after another one is tried again after a delay', () => {
    expect(actionFor({ ...closed, code: 515 }, true)).toEqual({ do: 'retry', error: 'the connection was lost (515)' })
  })

  it('that never opened is tried again, and says that the network cannot be reached', () => {
    expect(actionFor({ ...closed, code: undefined, unreached: 'ENOTFOUND', paired: false })).toEqual({
      do: 'retry',
      error: 'WhatsApp cannot be reached (ENOTFOUND); the gateway tries again',
    })
  })

  it('restricts the account with 403 and 406 alone among those that forget the login', () => {
    const restricted = [401, 403, 406].map((code) => actionFor({ ...closed, code }))
    expect(restricted).toMatchObject([{ restricted: false }, { restricted: true }, { restricted: true }])
  })

  it('waits as long as the ban lasts', () => {
    expect(actionFor({ ...closed, code: 402, data: { expire: '3600' } })).toMatchObject({ ms: 3_600_000 })
    expect(actionFor({ ...closed, code: 402 })).toMatchObject({ ms: 86_400_000 })
  })

  it('stops when a code was shown and nobody scanned it', () => {
    expect(actionFor({ ...closed, code: 408, paired: false, shown: true })).toEqual({
      do: 'stop',
      error: 'nobody scanned the code in time',
    })
  })

  it('is tried again after 2 s, doubling to 5 minutes, give or take a fifth', () => {
    const middle = [0, 1, 2, 7, 8, 50].map((failed) => reconnectDelayMs(failed, 2_000, () => 0.5))
    expect(middle).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000])
    expect(reconnectDelayMs(0, 2_000, () => 0)).toBeCloseTo(1_600)
    expect(reconnectDelayMs(0, 2_000, () => 1)).toBeCloseTo(2_400)
  })
})
