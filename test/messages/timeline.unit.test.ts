// The steps of a message, when it counts as stalled, and what it waits for.
import { describe, expect, it } from 'vitest'
import { isStalled, timelineOf, type WaitingRow, waitOf } from '../../src/messages/timeline.ts'

const now = new Date('2026-03-01T12:00:00.000Z')
const later = (ms: number) => new Date(now.getTime() + ms)
const nothing = { handedAt: null, sentAt: null, deliveredAt: null, readAt: null, failedAt: null, cancelledAt: null }

describe('a timeline', () => {
  it('has each status with the time since the one before', () => {
    const times = { handedAt: later(12), sentAt: later(252), deliveredAt: later(1_252), readAt: later(3_000_001_252) }
    expect(timelineOf({ ...nothing, direction: 'outbound', createdAt: now, ...times })).toEqual([
      { status: 'queued', at: now, afterMs: 0 },
      { status: 'sending', at: later(12), afterMs: 12 },
      { status: 'sent', at: later(252), afterMs: 240 },
      { status: 'delivered', at: later(1_252), afterMs: 1_000 },
      { status: 'read', at: later(3_000_001_252), afterMs: 3_000_000_000 },
    ])
  })

  it('keeps the order of statuses when the clock of the network is behind', () => {
    const steps = timelineOf({ ...nothing, direction: 'outbound', createdAt: now, handedAt: later(500), sentAt: later(-300) })
    expect(steps.map(({ status, afterMs }) => [status, afterMs])).toEqual([
      ['queued', 0],
      ['sending', 500],
      ['sent', 0],
    ])
  })

  it('begins with received for an inbound message', () => {
    expect(timelineOf({ ...nothing, direction: 'inbound', createdAt: now })).toEqual([
      { status: 'received', at: now, afterMs: 0 },
    ])
  })
})

describe('a message', () => {
  it('is stalled one minute after it was due, while it is on its way to the network', () => {
    const stalled = (status: 'queued' | 'sending' | 'sent', dueAt: Date, direction: 'inbound' | 'outbound' = 'outbound') =>
      isStalled({ direction, status, dueAt }, now)
    expect(stalled('queued', later(-60_000))).toBe(false)
    expect(stalled('queued', later(-60_001))).toBe(true)
    expect(stalled('sending', later(-60_001))).toBe(true)
    expect(stalled('sent', later(-60_001))).toBe(false)
    expect(stalled('queued', later(60_000))).toBe(false)
    expect(stalled('queued', later(-60_001), 'inbound')).toBe(false)
  })

  const ready: WaitingRow = {
    dueAt: later(-1_000),
    nextAttemptAt: null,
    leaseUntil: null,
    handed: false,
    accepted: false,
    instanceConnected: true,
    heldBy: null,
    holdUntil: null,
    blocked: false,
    now,
  }
  const hold = { holdUntil: later(9_000), instanceConnected: false }

  it.each<[reason: string, until: Date | null, row: Partial<WaitingRow>]>([
    ['dispatch', null, {}],
    ['schedule', later(5_000), { dueAt: later(5_000), instanceConnected: false }],
    ['instance', null, { instanceConnected: false, nextAttemptAt: later(2_000), blocked: true }],
    ['recipient_hold', later(9_000), { ...hold, heldBy: 'recipient 1 +49' }],
    ['instance_hold', later(9_000), { ...hold, heldBy: 'instance 1' }],
    ['account_hold', later(9_000), { ...hold, heldBy: 'account cloud 1' }],
    ['retry', later(2_000), { nextAttemptAt: later(2_000), blocked: true }],
    ['turn', null, { blocked: true, heldBy: 'instance 1' }],
    ['capacity', null, { heldBy: 'instance 1' }],
    ['answer', later(4_000), { leaseUntil: later(4_000), handed: true }],
    ['answer', null, { leaseUntil: later(-4_000), handed: true }],
    ['report', null, { accepted: true, handed: true }],
  ])('waits for %s until %s', (reason, until, row) => {
    const expiresAt = row.handed ? null : new Date((row.dueAt ?? ready.dueAt).getTime() + 60_000)
    expect(waitOf({ ...ready, ...row }, 60_000)).toEqual({ reason, until, expiresAt })
  })
})
