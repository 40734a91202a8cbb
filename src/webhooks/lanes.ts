// Lanes: each endpoint has its own in every process, so that one that is slow or dead never keeps another's deliveries waiting.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { createBatch } from '../core/batch.ts'
import { newId } from '../core/id.ts'
import { attempt } from './attempt.ts'
import { createBeat } from './beat.ts'
import { type ClaimedDelivery, claimDeliveries, claimWaiting, renewLeases } from './claim.ts'
import type { DeliveryRef } from './deliver-job.ts'
import { leaseMs, type Verdict } from './policy.ts'
import { type Settled, type Settlement, settleDeliveries } from './settle.ts'
import { closeStranded, findOverdue } from './sweep.ts'

export interface Lanes {
  /** Takes up deliveries that are due, as far as their lanes have room; the others follow when there is. Answers once they are leased. */
  take: (deliveries: readonly DeliveryRef[]) => Promise<void>
  /** Begins to look for what no job asks for any more. Disposing of it waits for the attempts under way, or breaks them off. */
  start: () => AsyncDisposable
}

declare module '../core/app.ts' {
  interface App {
    deliveries: Lanes
  }
}

/** Attempts at once to one endpoint, and to one that does nothing but fail. */
const laneWidth = 16
const failingLaneWidth = 2
/** Attempts at once in this process. */
const maxAttempts = 1_000
const sweepMs = 1_000
const stopMs = 5_000
/** Gaps up to here are also kept by a timer, which is more exact than a job. */
const timerMs = 60_000

interface Lane {
  busy: number
  /** Whether deliveries wait in the database for room. */
  behind: boolean
  failing: boolean
}

export function createLanes(app: App): Lanes {
  const token = newId()
  const lanes = new Map<string, Lane>()
  const running = new Map<string, Promise<void>>()
  const waiting: (() => void)[] = []
  const timers = new Set<NodeJS.Timeout>()
  const stopping = new AbortController()
  const settle = createBatch<Settlement, Settled>({ max: 200, parallel: 2, run: (list) => settleDeliveries(app, list) })

  function laneOf(endpointId: string): Lane {
    const lane = lanes.get(endpointId) ?? { busy: 0, behind: false, failing: false }
    lanes.set(endpointId, lane)
    return lane
  }

  function roomIn(lane: Lane): number {
    return Math.max(0, (lane.failing ? failingLaneWidth : laneWidth) - lane.busy)
  }

  async function take(deliveries: readonly DeliveryRef[]): Promise<void> {
    while (running.size >= maxAttempts) await new Promise<void>((resolve) => waiting.push(resolve))
    const admitted = deliveries.filter(({ endpointId }) => {
      const lane = laneOf(endpointId)
      const fits = roomIn(lane) > 0
      if (fits) lane.busy++
      else lane.behind = true
      return fits
    })
    if (admitted.length === 0) return
    const endpointIds = admitted.map(({ endpointId }) => endpointId)
    await begin(endpointIds, () =>
      claimDeliveries(
        app.pool,
        token,
        admitted.map(({ id }) => id),
      ),
    )
  }

  /** Claims and starts attempts for which `reserved` holds one place each, and gives back the places that were not needed. */
  async function begin(reserved: readonly string[], claim: () => Promise<ClaimedDelivery[]>): Promise<number> {
    let claimed: ClaimedDelivery[] = []
    try {
      if (!stopping.signal.aborted) claimed = await claim()
    } finally {
      const unused = [...reserved]
      for (const { endpointId } of claimed) unused.splice(unused.indexOf(endpointId), 1)
      for (const endpointId of unused) leave(endpointId)
    }
    for (const delivery of claimed) {
      laneOf(delivery.endpointId).failing = delivery.failing
      running.set(delivery.id, run(delivery))
    }
    return claimed.length
  }

  async function run(delivery: ClaimedDelivery): Promise<void> {
    const { id, endpointId } = delivery
    try {
      const verdict = await attempt(app, delivery, stopping.signal)
      laneOf(endpointId).failing = !verdict.delivered
      const gap = await commit(delivery, verdict)
      if (gap !== null && gap <= timerMs) wakeAfter(gap, { id, endpointId })
    } catch (error) {
      // The lease runs out, and the sweep finds the delivery.
      app.log.warn({ deliveryId: id, err: (error as Error).message }, 'webhook attempt not settled')
    } finally {
      running.delete(id)
      leave(endpointId)
      waiting.shift()?.()
    }
  }

  /** While the database is away the outcome waits for it, so that nothing is delivered twice without need. */
  async function commit(delivery: ClaimedDelivery, verdict: Verdict): Promise<Settled> {
    for (let waitMs = 200; ; waitMs = Math.min(waitMs * 2, 5_000)) {
      try {
        return await settle({ delivery, token, verdict })
      } catch (error) {
        if (stopping.signal.aborted) throw error
        app.log.warn({ err: (error as Error).message }, 'webhook outcomes wait for the database')
        await pause(waitMs)
      }
    }
  }

  function leave(endpointId: string): void {
    const lane = laneOf(endpointId)
    lane.busy--
    if (lane.behind) void refill(endpointId)
    else if (lane.busy === 0) lanes.delete(endpointId)
  }

  /** Takes up what waits in the database for room in a lane. */
  async function refill(endpointId: string): Promise<void> {
    const lane = laneOf(endpointId)
    const room = roomIn(lane)
    if (room === 0 || running.size >= maxAttempts || stopping.signal.aborted) return
    lane.busy += room
    lane.behind = false
    try {
      const reserved = Array.from({ length: room }, () => endpointId)
      const count = await begin(reserved, () => claimWaiting(app.pool, token, endpointId, room))
      if (count === room) lane.behind = true
    } catch (error) {
      app.log.warn({ err: (error as Error).message }, 'waiting webhook deliveries not read')
    }
  }

  function wakeAfter(gap: number, delivery: DeliveryRef): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      // Where this fails, the delivery's job does the same a little later.
      void take([delivery]).catch(() => {})
    }, gap + 2)
    timers.add(timer.unref())
  }

  async function sweep(): Promise<void> {
    const overdue = await findOverdue(app.pool)
    if (overdue.length === 0 || stopping.signal.aborted) return
    await closeStranded(app.pool, overdue)
    for (const endpointId of overdue) {
      laneOf(endpointId).behind = true
      await refill(endpointId)
    }
  }

  const upkeep = [createBeat(app, sweepMs, sweep), createBeat(app, leaseMs / 3, renew)]

  async function renew(): Promise<void> {
    if (running.size > 0) await renewLeases(app.pool, token, [...running.keys()])
  }

  async function stop(): Promise<void> {
    for (const timer of timers) clearTimeout(timer)
    const done = () => Promise.allSettled(running.values())
    await Promise.race([done(), pause(stopMs, undefined, { ref: false })])
    // What still hangs is broken off and goes on under another process.
    stopping.abort()
    await done()
    for (const beat of upkeep) await beat[Symbol.asyncDispose]()
  }

  return {
    take,
    start() {
      for (const beat of upkeep) beat.start()
      return { [Symbol.asyncDispose]: stop }
    },
  }
}
