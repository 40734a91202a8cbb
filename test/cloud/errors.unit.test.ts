// The table of Meta's error codes, the words of a failure, and the waits that grow.
import { describe, expect, it } from 'vitest'
import { failureOf, type Later, reasonOf, verdictOf } from '../../src/providers/cloud/errors.ts'
import { recipientsOf, standingOf } from '../../src/providers/cloud/number.ts'
import { createWaits } from '../../src/providers/cloud/waits.ts'
import { noDailyBound } from '../../src/providers/reports.ts'

/** Every code that Meta documents for messages and registration: what becomes of a message, and the error of one that fails with it. */
const refused = { is: 'refused' }
const documented: [codes: number[], verdict: object, error: string][] = [
  [[0, 190, 10, 200, 250, 299], { is: 'auth' }, 'AUTH_INVALID'],
  [[4, 80007], { is: 'later', holds: 'account' }, 'PROVIDER_ERROR'],
  [[2, 130429, 131016, 131057], { is: 'later', holds: 'instance' }, 'PROVIDER_ERROR'],
  [[131056, 132069], { is: 'later', holds: 'recipient' }, 'PROVIDER_ERROR'],
  [[1, 131000], { is: 'few' }, 'PROVIDER_ERROR'],
  [[3, 33, 100, 131005, 131008, 131009, 131021, 131037, 131042, 131045], refused, 'PROVIDER_ERROR'],
  [[133004, 133005, 133006, 133008, 133009, 133010, 133015, 133016, 134011, 135000], refused, 'PROVIDER_ERROR'],
  [[368, 130497, 131031, 131048], { is: 'refused', restricted: true }, 'ACCOUNT_RESTRICTED'],
  [[130472, 131049], refused, 'NOT_DELIVERED_BY_POLICY'],
  [[131026], refused, 'RECIPIENT_NOT_FOUND'],
  [[131047], refused, 'OUTSIDE_WINDOW'],
  [[131050], refused, 'OPTED_OUT'],
  [[131051], refused, 'UNSUPPORTED_TYPE'],
  [[131052, 131053], refused, 'MEDIA_REJECTED'],
  [[132000, 132001, 132005, 132007, 132012, 132015, 132016, 132068], refused, 'TEMPLATE_REJECTED'],
]

it.each(documented.flatMap(([codes, verdict, error]) => codes.map((code) => [code, error, verdict] as const)))(
  '%i is %s in a status, with words of our own where Meta gives none',
  (code, error, verdict) => {
    expect(verdictOf(code)).toMatchObject(verdict)
    const failure = failureOf(code, '', [])
    expect(failure).toMatchObject({ error, restricted: error === 'ACCOUNT_RESTRICTED' })
    expect(failure.detail).toMatch(new RegExp(`^(?!refused by Meta)[a-z].{10,} \\(${code}\\)$`))
    if (verdict === refused) expect(verdictOf(code)).toMatchObject({ error })
  },
)

describe('the reason of a failure', () => {
  it('is in the words of Meta with the code, or in ours', () => {
    expect(reasonOf(131026, 'Message undeliverable.', [])).toBe('Message undeliverable. (131026)')
    expect(reasonOf(131026, ' ', [])).toBe('the message cannot be delivered to this number (131026)')
    expect(reasonOf(424242, '', [])).toBe('refused by Meta (424242)')
    expect(reasonOf(100, 'x'.repeat(2_000), [])).toHaveLength(506)
  })

  it('holds none of the secrets that Meta repeats', () => {
    expect(reasonOf(100, 'pin 123456 of token EAAx and EAAx', ['EAAx', '123456', undefined])).toBe('pin … of token … and … (100)')
    expect(reasonOf(190, 'Malformed access token EAAx', [])).toBe('the access token was refused (190)')
    expect(reasonOf(203, 'EAAx', [])).toBe('the access token lacks a permission (203)')
  })

  it('is final in a status, also for codes that let a send wait', () => {
    expect(failureOf(131056, 'Pair rate', [])).toEqual({
      error: 'PROVIDER_ERROR',
      detail: 'Pair rate (131056)',
      restricted: false,
    })
    expect(failureOf(190, '', [])).toMatchObject({ error: 'AUTH_INVALID' })
    expect(failureOf(131048, 'Spam', [])).toEqual({ error: 'ACCOUNT_RESTRICTED', detail: 'Spam (131048)', restricted: true })
  })
})

describe('a wait', () => {
  const wait = (given: number[], verdict: Later, gapMs = 0) => {
    let now = 0
    const waits = createWaits(() => now)
    return given.map(() => {
      const ms = waits.next('key', verdict, undefined)
      now += ms + gapMs
      return ms
    })
  }
  const later = (code: number) => verdictOf(code) as Later

  it('grows for one recipient by four, up to 256 s', () => {
    expect(wait(Array(6).fill(0), later(131056))).toEqual([1_000, 4_000, 16_000, 64_000, 256_000, 256_000])
  })

  it('doubles for a number and for an account, up to 5 min', () => {
    expect(wait(Array(10).fill(0), later(130429)).slice(-2)).toEqual([256_000, 300_000])
    expect(wait(Array(3).fill(0), later(80007))).toEqual([2_000, 4_000, 8_000])
    expect(wait(Array(3).fill(0), later(131057))).toEqual([60_000, 60_000, 60_000])
  })

  it('is short again after a success, and after ten quiet minutes', () => {
    expect(wait(Array(3).fill(0), later(130429), 600_001)).toEqual([1_000, 1_000, 1_000])
    const waits = createWaits(() => 0)
    waits.next('key', later(130429), undefined)
    waits.end('key')
    expect(waits.next('key', later(130429), undefined)).toBe(1_000)
  })

  it('does not grow by answers to calls that were under way together', () => {
    const waits = createWaits(() => 0)
    expect([1, 2, 3].map(() => waits.next('key', later(130429), undefined))).toEqual([1_000, 1_000, 1_000])
  })

  it('is as long as Meta says', () => {
    expect(createWaits().next('key', later(130429), 7_000)).toBe(7_000)
  })
})

describe('the standing of a number', () => {
  it.each([
    ['TIER_50', 50],
    ['TIER_250', 250],
    ['TIER_1K', 1_000],
    ['TIER_2K', 2_000],
    ['TIER_10K', 10_000],
    ['TIER_100K', 100_000],
    ['TIER_UNLIMITED', noDailyBound],
    ['TIER_NOT_SET', undefined],
  ])('has the daily limit of %s', (limit, recipients) => {
    expect(recipientsOf(limit)).toBe(recipients)
  })

  const health = (can_send_message: string) => ({ health_status: { can_send_message } })
  it.each<[string, Record<string, unknown>, boolean, string | undefined]>([
    ['good', { quality_rating: 'GREEN', status: 'CONNECTED', ...health('AVAILABLE') }, false, undefined],
    ['unknown', { quality_rating: 'NA' }, false, undefined],
    ['yellow', { quality_rating: 'YELLOW' }, true, undefined],
    ['limited', health('LIMITED'), true, undefined],
    ['red', { quality_rating: 'RED' }, true, 'Meta restricts the number: quality_rating is RED'],
    ['restricted', { status: 'RESTRICTED' }, true, 'Meta restricts the number: status is RESTRICTED'],
    ['banned', { status: 'BANNED' }, true, 'Meta restricts the number: status is BANNED'],
    ['blocked', health('BLOCKED'), true, 'Meta restricts the number: can_send_message is BLOCKED'],
  ])('is told by its health: %s', (_, number, atRisk, error) => {
    const standing = standingOf(number)
    expect([standing.atRisk, standing.restricted ?? false, standing.error]).toEqual([atRisk, error !== undefined, error])
  })
})
