// Pure rules of webhooks: retry intervals, the meaning of responses, and when an endpoint is disabled.
import { describe, expect, it } from 'vitest'
import { type Health, healthAfter } from '../../src/webhooks/health.ts'
import { gapMs, judge } from '../../src/webhooks/policy.ts'

const day = 86_400_000

describe('the interval before the next attempt', () => {
  it.each([
    [1, 30_000],
    [2, 300_000],
    [3, 3_000_000],
    [4, 30_000_000],
  ])('after attempt %i is %i ms, plus or minus a fifth', (made, nominal) => {
    expect(gapMs(made, 30_000, undefined, () => 0)).toBeCloseTo(nominal * 0.8)
    expect(gapMs(made, 30_000, undefined, () => 0.5)).toBeCloseTo(nominal)
    expect(gapMs(made, 30_000, undefined, () => 1)).toBeCloseTo(nominal * 1.2)
  })

  it('adds up to more than nine hours over all attempts', () => {
    const total = [1, 2, 3, 4].reduce((sum, made) => sum + gapMs(made, 30_000, undefined, () => 0.5), 0)
    expect(total).toBeGreaterThan(9 * 3_600_000)
  })

  it('follows Retry-After, but is neither shorter than nominal nor longer than twice nominal', () => {
    const gap = (retryAfterMs: number) => gapMs(1, 30_000, retryAfterMs, () => 0.5)
    expect(gap(0)).toBe(30_000)
    expect(gap(45_000)).toBe(45_000)
    expect(gap(3_600_000)).toBe(60_000)
  })
})

describe('a response', () => {
  const answer = (status: number, retryAfterMs?: number) =>
    judge({ outcome: 'response', status, retryAfterMs, bodyBytes: 0, start: Buffer.alloc(0) })

  it.each([200, 201, 202, 204, 299])('with status %i means success', (status) => {
    expect(answer(status)).toEqual({ delivered: true, responseCode: status, error: null, gone: false, retryAfterMs: undefined })
  })

  it.each([300, 301, 302, 304, 307, 308])('with status %i is a redirect, which is not followed', (status) => {
    expect(answer(status)).toMatchObject({ delivered: false, error: 'redirect_refused' })
  })

  it.each([199, 400, 401, 404, 410, 500, 503])('with status %i is a failure', (status) => {
    expect(answer(status)).toMatchObject({ delivered: false, error: 'unexpected_status', gone: status === 410 })
  })

  it('may postpone the next attempt only with 429 or 503', () => {
    expect([429, 503, 500, 404].map((status) => answer(status, 9_000).retryAfterMs)).toEqual([9_000, 9_000, undefined, undefined])
  })
})

describe('an endpoint', () => {
  const now = new Date('2026-01-10T00:00:00Z')
  const health = (days: number, failedEvents: number): Health => ({
    failingSince: new Date(now.getTime() - days * day),
    failedEvents,
    disabledReason: null,
  })
  const failure = { anyDelivered: false, failedEvents: 1, gone: false }

  it('begins to fail with its first failure', () => {
    const healthy = { failingSince: null, failedEvents: 0, disabledReason: null }
    expect(healthAfter(healthy, failure, now)).toEqual({ failingSince: now, failedEvents: 1, disabledReason: null })
  })

  it('is disabled after five days and ten events with failures only, not before', () => {
    expect(healthAfter(health(5, 9), failure, now).disabledReason).toBe('failing')
    expect(healthAfter(health(4.99, 500), failure, now).disabledReason).toBeNull()
    expect(healthAfter(health(30, 2), failure, now).disabledReason).toBeNull()
  })

  it('counts as healthy again after any 2xx', () => {
    const news = { anyDelivered: true, failedEvents: 3, gone: false }
    expect(healthAfter(health(9, 99), news, now)).toEqual({ failingSince: null, failedEvents: 0, disabledReason: null })
  })

  it('is disabled at once by a 410', () => {
    expect(healthAfter(health(0, 0), { ...failure, gone: true }, now).disabledReason).toBe('gone')
  })

  it('keeps the first reason for being disabled', () => {
    expect(healthAfter({ ...health(9, 99), disabledReason: 'gone' }, failure, now).disabledReason).toBe('gone')
  })
})
