// The rules for the lifecycle of a message, as pure functions.
import { expect, it } from 'vitest'
import {
  type Decision,
  decide,
  followDelayMs,
  leaseMs,
  mostInFlight,
  type OpenMessage,
  retryDelayMs,
  sendTimeoutMs,
  shareOf,
  widerThan,
} from '../../src/messages/dispatch/policy.ts'

const now = new Date('2026-01-31T10:00:00Z')
const day = 86_400_000

function at(ms: number): Date {
  return new Date(now.getTime() + ms)
}

function judge(change: Partial<OpenMessage>): Decision {
  const message: OpenMessage = {
    status: 'queued',
    dueAt: at(-1000),
    nextAttemptAt: null,
    leaseToken: null,
    leaseUntil: null,
    acceptedAt: null,
    attempts: 1,
    mayHaveLeft: false,
    blocked: false,
    instanceDeleted: false,
    instanceConnected: true,
    sendsOnce: true,
    reconcileMs: 5_000,
    ...change,
  }
  return decide(message, now, day)
}

const held = { status: 'sending', leaseToken: 'x', leaseUntil: at(2_000) } as const
const lapsed = { status: 'sending', leaseToken: 'x', leaseUntil: at(-2_000) } as const

it('sends a message that is due', () => {
  expect(judge({})).toEqual({ do: 'send' })
  expect(judge({ dueAt: now })).toEqual({ do: 'send' })
  expect(judge({ status: 'sending', nextAttemptAt: now })).toEqual({ do: 'send' })
})

it('never sends before the due time, nor before the time of the next attempt', () => {
  expect(judge({ dueAt: at(1) })).toEqual({ do: 'later', at: at(1) })
  expect(judge({ nextAttemptAt: at(1) })).toEqual({ do: 'later', at: at(1) })
})

it('does nothing for a message that is accepted or finished', () => {
  expect(judge({ status: 'sending', acceptedAt: now })).toEqual({ do: 'nothing' })
  for (const status of ['sent', 'delivered', 'read', 'failed', 'cancelled'] as const)
    expect(judge({ status })).toEqual({ do: 'nothing' })
})

it('leaves a message to the holder of its lease until the lease is over', () => {
  expect(judge(held)).toEqual({ do: 'later', at: held.leaseUntil })
  expect(judge({ ...held, sendsOnce: false })).toEqual({ do: 'later', at: held.leaseUntil })
})

it('offers an abandoned message again only if offering it twice makes one message', () => {
  expect(judge(lapsed)).toEqual({ do: 'send' })
  expect(judge({ ...lapsed, sendsOnce: false })).toEqual({ do: 'later', at: at(3_000) })
  expect(judge({ ...lapsed, leaseUntil: at(-5_000), sendsOnce: false })).toEqual({ do: 'fail', error: 'UNKNOWN_OUTCOME' })
})

it('gives up a message that broke twelve workers, but not before its receipts had time to come', () => {
  expect(judge({ ...lapsed, attempts: 11 })).toEqual({ do: 'send' })
  expect(judge({ ...lapsed, attempts: 12 })).toEqual({ do: 'later', at: at(3_000) })
  expect(judge({ ...lapsed, attempts: 12, leaseUntil: at(-5_000) })).toEqual({ do: 'fail', error: 'UNKNOWN_OUTCOME' })
})

it('waits for an instance until the time to live is over', () => {
  expect(judge({ instanceConnected: false })).toEqual({ do: 'defer', until: at(day - 1000) })
  expect(judge({ instanceConnected: false, dueAt: at(-day) })).toEqual({ do: 'fail', error: 'EXPIRED' })
  expect(judge({ dueAt: at(-day) })).toEqual({ do: 'fail', error: 'EXPIRED' })
  expect(judge({ instanceConnected: false, dueAt: at(60_000) })).toEqual({ do: 'later', at: at(60_000) })
})

it('fails messages that a deleted instance still had to send', () => {
  expect(judge({ instanceDeleted: true })).toEqual({ do: 'fail', error: 'INSTANCE_DELETED' })
  expect(judge({ instanceDeleted: true, dueAt: at(1) })).toEqual({ do: 'fail', error: 'INSTANCE_DELETED' })
})

it('never says of a message that the network may have that it did not leave', () => {
  const unknown = { do: 'fail', error: 'UNKNOWN_OUTCOME' }
  for (const end of [{ dueAt: at(-day) }, { instanceConnected: false, dueAt: at(-day) }, { instanceDeleted: true }]) {
    expect(judge({ status: 'sending', mayHaveLeft: true, ...end })).toEqual(unknown)
    expect(judge({ ...lapsed, mayHaveLeft: true, ...end })).toEqual(unknown)
  }
})

it('lets no message overtake another to the same recipient', () => {
  expect(judge({ blocked: true })).toEqual({ do: 'follow' })
  expect([0, 1, 99].map((n) => followDelayMs(n))).toEqual([250, 255, 745])
})

it('checks a message behind another one ever more rarely while the network has that one', () => {
  expect([0, 800, 8_000].map((ms) => followDelayMs(0, ms))).toEqual([250, 250, 2_000])
})

it('checks a message behind others the more rarely, the more of them there are', () => {
  expect([1, 10, 100, 200].map((waiting) => followDelayMs(0, 0, waiting))).toEqual([250, 250, 2_500, 5_000])
})

it('gives each slow instance a share of the sends in progress, so that there is always one left for the next', () => {
  const busy = (slow: number) => {
    const lines = Array<number>(slow).fill(0)
    const free = () => mostInFlight - lines.reduce((sum, n) => sum + n, 0)
    for (let before = -1; before !== free(); ) {
      before = free()
      for (const [i, n] of lines.entries()) if (n + 1 <= shareOf(free())) lines[i] = n + 1
    }
    return { free: free(), most: Math.max(...lines), least: Math.min(...lines) }
  }
  expect(busy(1)).toEqual({ free: 1_778, most: 222, least: 222 })
  for (const slow of [20, 200]) {
    const { free, most, least } = busy(slow)
    expect(free).toBeGreaterThan(0)
    expect(most - least).toBeLessThanOrEqual(1)
  }
})

it('releases waiting messages one by one at first, and at most 64 at a time', () => {
  const sizes = [1]
  while (sizes.length < 8) sizes.push(widerThan(sizes.at(-1) as number))
  expect(sizes).toEqual([1, 2, 4, 8, 16, 32, 64, 64])
})

it('retries after 1 s, then doubles the delay up to 5 min, plus or minus a fifth, eleven times', () => {
  const gaps = Array.from({ length: 12 }, (_, i) => retryDelayMs(i + 1, undefined, () => 0.5))
  expect(gaps).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map((s) => s * 1000).concat(null as never))
  expect([0, 1].map((random) => Math.round(retryDelayMs(1, undefined, () => random) ?? 0))).toEqual([800, 1_200])
})

it('retries after the delay that the provider asks for, up to one hour', () => {
  expect([retryDelayMs(1, 20), retryDelayMs(3, 7_200_000), retryDelayMs(12, 20)]).toEqual([20, 3_600_000, null])
})

it('accepts an answer only during the lease, and a lease ends before a dead worker is noticed', () => {
  expect(sendTimeoutMs).toBeLessThan(leaseMs)
  expect(leaseMs).toBeLessThan(10_000)
})
