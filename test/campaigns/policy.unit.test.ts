// The rules of a campaign: its next step, the actions that its state allows, and its progress.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CampaignAction,
  nextStep,
  obstacle,
  type Progress,
  progressPercent,
  restAfter,
  speedAfter,
} from '../../src/campaigns/policy.ts'
import { CampaignStatus } from '../../src/generated/prisma/enums.ts'

const pageSize = 50
const now = new Date('2026-05-01T10:00:00Z')
const seconds = (n: number) => new Date(now.getTime() + n * 1_000)

function campaign(fields: Partial<Progress> = {}): Progress {
  return {
    status: 'running',
    scheduledFor: null,
    lastEnqueuedAt: now,
    instanceDeleted: false,
    planned: 50,
    open: 0,
    unaccepted: 0,
    waiting: 0,
    deferred: 0,
    rate: null,
    nextAt: null,
    quietUntil: null,
    quietFrom: null,
    ...fields,
  }
}

describe('the next step', () => {
  it.each<[string, Partial<Progress>, unknown]>([
    ['a page, of a running one', {}, { do: 'send', most: pageSize }],
    ['nothing before its time', { status: 'scheduled', scheduledFor: seconds(1) }, { do: 'later', at: seconds(1) }],
    ['a page when its time has come', { status: 'scheduled', scheduledFor: now }, { do: 'send', most: pageSize }],
    ['a page of one that was resumed after its time', { scheduledFor: seconds(-60) }, { do: 'send', most: pageSize }],
    [
      'a look when the quiet hours begin, of a paused one with queued messages',
      { status: 'paused', quietFrom: seconds(60), open: 1, unaccepted: 1 },
      { do: 'later', at: seconds(60) },
    ],
    [
      'nothing of what is queued of a paused one in quiet hours',
      { status: 'paused', quietUntil: seconds(60), quietFrom: seconds(90), open: 1, unaccepted: 1 },
      { do: 'quiet', until: seconds(60) },
    ],
    [
      'nothing of a paused one in quiet hours without queued messages',
      { status: 'paused', quietFrom: seconds(60) },
      { do: 'nothing' },
    ],
    ['nothing of a paused one', { status: 'paused' }, { do: 'nothing' }],
    ['the end of a paused one of which everything has left', { status: 'paused', planned: 0 }, { do: 'complete' }],
    [
      'a later look at what is left of a paused one',
      { status: 'paused', planned: 0, open: 1 },
      { do: 'later', at: seconds(0.25) },
    ],
    ['nothing of a cancelled one', { status: 'cancelled', planned: 0 }, { do: 'nothing' }],
    ['nothing of a completed one', { status: 'completed', planned: 0 }, { do: 'nothing' }],
    ['nothing of a failed one', { status: 'failed', planned: 0 }, { do: 'nothing' }],
    ['fewer where many wait for their provider', { open: 490, unaccepted: 490 }, { do: 'send', most: 10 }],
    ['a page where many only wait for their receipts', { open: 9_000, unaccepted: 0 }, { do: 'send', most: pageSize }],
    ['a later look where too many wait', { open: 500, unaccepted: 500 }, { do: 'later', at: seconds(0.25) }],
    ['a later look where all are on their way', { planned: 0, open: 3 }, { do: 'later', at: seconds(0.25) }],
    ['the end where none is', { planned: 0 }, { do: 'complete' }],
    ['the end where the instance is gone', { instanceDeleted: true }, { do: 'fail', error: 'INSTANCE_DELETED' }],
    ['one message where the rate allows one', { rate: 5, nextAt: now }, { do: 'send', most: 1 }],
    ['nothing before the moment that the rate gives', { rate: 5, nextAt: seconds(3) }, { do: 'later', at: seconds(3) }],
    [
      'a later look where messages wait for their instance, to leave at once when it connects',
      { rate: 60, nextAt: now, open: 1, unaccepted: 1, waiting: 1 },
      { do: 'later', at: seconds(0.25) },
    ],
    [
      'a look when the quiet hours begin, where the moment that the rate gives is later',
      { rate: 1, nextAt: seconds(50), quietFrom: seconds(10), open: 1, unaccepted: 1, waiting: 1 },
      { do: 'later', at: seconds(10) },
    ],
    ['nothing in quiet hours', { quietUntil: seconds(60) }, { do: 'quiet', until: seconds(60) }],
    [
      'nothing of what waits in quiet hours',
      { quietUntil: seconds(60), planned: 0, open: 1, unaccepted: 1 },
      { do: 'quiet', until: seconds(60) },
    ],
    ['the end in quiet hours where none is left', { quietUntil: seconds(60), planned: 0 }, { do: 'complete' }],
    ['the end, and no failure, where it went with nothing left to do', { instanceDeleted: true, planned: 0 }, { do: 'complete' }],
  ])('is %s', (_, fields, step) => {
    expect(nextStep(campaign(fields), now, pageSize)).toEqual(step)
  })

  it.each<[string, Partial<Progress>, number[]]>([
    ['up to five seconds while messages may leave', { unaccepted: 2, waiting: 1 }, [0.25, 0.25, 0.5, 2, 5, 5]],
    [
      'up to five seconds while more follow those that the network asked to wait with',
      { planned: 9, open: 500, unaccepted: 500, waiting: 500 },
      [0.25, 0.25, 0.5, 2, 5, 5],
    ],
    [
      'up to five seconds while more follow those on their way',
      { planned: 9, open: 500, unaccepted: 500 },
      [0.25, 0.25, 0.5, 2, 5, 5],
    ],
    [
      'up to a minute while all wait for their instance, which starts a step when it connects',
      { planned: 9, open: 500, unaccepted: 500, waiting: 500, deferred: 500 },
      [0.25, 0.25, 0.5, 2, 5, 60],
    ],
    ['up to a minute while only reports of the network are missing', { unaccepted: 0 }, [0.25, 0.25, 0.5, 2, 5, 60]],
    [
      'up to the begin of quiet hours, to take back what waits',
      { unaccepted: 2, waiting: 2, quietFrom: seconds(7) },
      [0.25, 0.25, 0.5, 2, 5, 7],
    ],
    ['up to a minute while the last ones wait for their instance', { unaccepted: 2, waiting: 2 }, [0.25, 0.25, 0.5, 2, 5, 60]],
  ])('is delayed ever longer, %s', (_, fields, delays) => {
    const gap = (idle: number) => {
      const progress = campaign({ planned: 0, open: 2, ...fields, lastEnqueuedAt: seconds(-idle) })
      const step = nextStep(progress, now, pageSize)
      return step.do === 'later' ? (step.at.getTime() - now.getTime()) / 1000 : Number.NaN
    }
    expect([0, 1, 2, 8, 20, 86_400].map(gap)).toEqual(delays)
  })

  it('comes after a rest that grows with the duration of a page', () => {
    expect([5, 20, 100, 1_000].map((tookMs) => restAfter(tookMs, { pageSize, restMs: 60 }))).toEqual([60, 60, 300, 3_000])
  })

  it('is a smaller page while other messages are sent, and for one minute after', () => {
    expect([0, 59_999, 60_000, Number.POSITIVE_INFINITY].map((sinceMs) => speedAfter(sinceMs).pageSize)).toEqual([20, 20, 50, 50])
  })
})

describe('an action', () => {
  const may = (action: CampaignAction) => Object.values(CampaignStatus).filter((status) => obstacle(action, status) === null)

  it('is allowed depending on the state', () => {
    expect(may('pause')).toEqual(['scheduled', 'running'])
    expect(may('resume')).toEqual(['paused'])
    expect(may('cancel')).toEqual(['scheduled', 'running', 'paused'])
    expect(may('change')).toEqual(['scheduled', 'running', 'paused'])
  })

  it('is refused with a full sentence', () => {
    expect(obstacle('pause', 'paused')).toBe('The campaign is paused; only a campaign that is scheduled or running can be paused')
    expect(obstacle('resume', 'running')).toBe('The campaign is running; only a campaign that is paused can be resumed')
    expect(obstacle('cancel', 'failed')).toBe(
      'The campaign is failed; only a campaign that is scheduled, running, or paused can be cancelled',
    )
  })
})

it('counts every recipient that is neither planned nor queued as progress, rounded down', () => {
  const counters = fc.record({
    planned: fc.nat(1_000),
    queued: fc.nat(1_000),
    sent: fc.nat(1_000),
    delivered: fc.nat(1_000),
    read: fc.nat(1_000),
    failed: fc.nat(1_000),
    cancelled: fc.nat(1_000),
  })
  fc.assert(
    fc.property(counters, (parts) => {
      const total = Object.values(parts).reduce((sum, n) => sum + n, 0)
      fc.pre(total > 0)
      const { sent, delivered, read, failed, cancelled } = parts
      expect(progressPercent({ ...parts, total })).toBe(
        Math.floor((100 * (sent + delivered + read + failed + cancelled)) / total),
      )
    }),
  )
  expect(progressPercent({ total: 300, planned: 1, queued: 0, sent: 299, delivered: 0, read: 0, failed: 0, cancelled: 0 })).toBe(
    99,
  )
})
