// The rules of instance safety, without a database.
import { expect, it } from 'vitest'
import { assess, type Caps, capsByState, coldRatio, type Standing, type Traffic } from '../../src/instances/safety.ts'

const now = new Date('2026-01-31T10:00:00Z')

function aged(days: number, restrictedHoursAgo?: number): Standing {
  const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000)
  const restrictedAt = restrictedHoursAgo === undefined ? null : ago(restrictedHoursAgo)
  return { firstConnectedAt: ago(24 * days), restrictedAt, atRiskAt: null, dailyRecipients: null }
}

/** A hundred recipients that know the instance got a message each, two of them in the last hour. */
function traffic(change: Partial<Traffic> = {}): Traffic {
  return {
    outbound1h: 2,
    outbound24h: 100,
    uniqueRecipients1h: 2,
    uniqueRecipients24h: 100,
    inboundReplies24h: 0,
    inboundReplies7d: 0,
    failed24h: 0,
    coldRecipients24h: 0,
    disconnections24h: 0,
    ...change,
  }
}

const quiet = traffic({ outbound1h: 0, outbound24h: 0, uniqueRecipients1h: 0, uniqueRecipients24h: 0 })

it('has the caps of the contract for each state', () => {
  const rows = Object.fromEntries(Object.entries(capsByState).map(([state, caps]) => [state, Object.values(caps)]))
  expect(rows).toEqual({
    new: [10, 40, 5, 20, 20, 0.2],
    warming: [30, 200, 20, 100, 100, 0.4],
    stable: [200, 2000, 120, 1000, 1000, 0.7],
    at_risk: [20, 100, 10, 50, 50, 0.1],
    restricted: [5, 20, 3, 10, 10, 0],
  })
})

it.each<[number, string]>([
  [0, 'new'],
  [2.99, 'new'],
  [3, 'warming'],
  [13.99, 'warming'],
  [14, 'stable'],
  [400, 'stable'],
])('rates an instance of %s days without incidents as %s', (days, state) => {
  const assessment = assess(aged(days), quiet, now)
  expect(assessment).toMatchObject({ state, score: 100, recommendations: [], ageDays: Math.floor(days * 10) / 10 })
  expect(assessment.caps).toEqual(capsByState[state as keyof typeof capsByState])
})

it('rates an instance as new before its first connection', () => {
  const never = { firstConnectedAt: null, restrictedAt: null, atRiskAt: null, dailyRecipients: null }
  expect(assess(never, quiet, now)).toMatchObject({
    state: 'new',
    score: 100,
    ageDays: 0,
  })
})

it.each<[string, Partial<Traffic>, number, RegExp]>([
  ['a tenth of the messages failed', { failed24h: 10 }, 94, /fail/],
  ['the hourly cap is exceeded', { outbound1h: 201 }, 90, /an hour/],
  ['the daily cap is exceeded', { outbound24h: 2001 }, 85, /a day/],
  ['the hourly cap of recipients is exceeded', { uniqueRecipients1h: 121 }, 90, /one hour/],
  ['the daily cap of recipients is exceeded', { uniqueRecipients24h: 1001 }, 85, /one day/],
  ['the connection dropped once', { disconnections24h: 1 }, 90, /dropped/],
  ['the connection dropped ten times', { disconnections24h: 10 }, 70, /dropped/],
])('loses points when %s, and gives a recommendation', (_, change, score, advice) => {
  const assessment = assess(aged(30), traffic(change), now)
  expect(assessment).toMatchObject({ score, state: 'stable', recommendations: [expect.stringMatching(advice)] })
})

it('loses no points at exactly a cap', () => {
  const full = traffic({
    outbound1h: 200,
    outbound24h: 2000,
    uniqueRecipients1h: 120,
    uniqueRecipients24h: 1000,
    coldRecipients24h: 700,
  })
  expect(assess(aged(30), full, now)).toMatchObject({ score: 100, recommendations: [] })
})

it('loses points for cold recipients beyond the ratio for its age', () => {
  const cold = traffic({ coldRecipients24h: 50 })
  expect(coldRatio(cold)).toBe(0.5)
  expect(assess(aged(30), cold, now).score).toBe(100)
  const warming = assess(aged(5), cold, now)
  expect(warming.score).toBeLessThan(100)
  expect(warming.recommendations).toEqual([expect.stringMatching(/never wrote/)])
  expect(coldRatio(quiet)).toBe(0)
})

it('gains up to ten points for replies, and never more than it lost', () => {
  expect(assess(aged(30), traffic({ failed24h: 50, inboundReplies24h: 20 }), now).score).toBe(72)
  expect(assess(aged(30), traffic({ failed24h: 50, inboundReplies24h: 5_000 }), now).score).toBe(80)
  expect(assess(aged(30), traffic({ inboundReplies24h: 100 }), now).score).toBe(100)
})

it('is at risk below 60 points and restricted below 30, whatever its age', () => {
  const failing = (share: number, more: Partial<Traffic> = {}) => assess(aged(30), traffic({ failed24h: share, ...more }), now)
  expect(failing(66)).toMatchObject({ score: 60, state: 'stable' })
  expect(failing(68)).toMatchObject({ score: 59, state: 'at_risk', caps: capsByState.at_risk })
  const drops = { disconnections24h: 3 }
  expect(failing(66, drops)).toMatchObject({ score: 30, state: 'at_risk' })
  expect(failing(68, drops)).toMatchObject({ score: 29, state: 'restricted', caps: capsByState.restricted })
  const all = traffic({
    failed24h: 9_000,
    outbound1h: 9_000,
    outbound24h: 9_000,
    uniqueRecipients1h: 9_000,
    uniqueRecipients24h: 9_000,
    coldRecipients24h: 9_000,
    ...drops,
  })
  expect(assess(aged(0), all, now)).toMatchObject({ score: 0, state: 'restricted' })
})

it('is restricted for one day after the provider reported it, and recommends that first', () => {
  const said = assess(aged(30, 23), traffic({ failed24h: 1 }), now)
  expect(said).toMatchObject({ state: 'restricted', score: 99 })
  expect(said.recommendations[0]).toMatch(/restricted/)
  expect(assess(aged(30, 25), quiet, now)).toMatchObject({ state: 'stable', recommendations: [] })
})

it('measures a send against the stricter of the caps for its state and for its age', () => {
  const risky = traffic({ failed24h: 70 })
  const limitsOf = (days: number): Caps => assess(aged(days), risky, now).caps
  expect(assess(aged(1), risky, now).state).toBe('restricted')
  expect(limitsOf(30)).toEqual(capsByState.at_risk)
  const young = assess(aged(1), traffic({ failed24h: 40, outbound1h: 11, uniqueRecipients1h: 2 }), now)
  expect(young.state).toBe('at_risk')
  expect(young.caps).toMatchObject({ hourlyOutboundCap: 10, dailyOutboundCap: 40, maxColdRatio: 0.1 })
})
