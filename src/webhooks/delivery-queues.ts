// Delivery queues. Each endpoint has its own in every process, so that a slow or dead endpoint never delays another's deliveries.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../core/app.ts'
import { createBatch, runApartOnFailure } from '../core/batch.ts'
import { untilStored } from '../core/database/until-stored.ts'
import { definePart } from '../core/part.ts'
import { type Attempt, attempt } from './attempt.ts'
import type { ClaimedDelivery } from './claim.sql.ts'
import { createClaims } from './claim.ts'
import type { DeliveryRef } from './deliver-job.ts'
import {
  adapt,
  beginFailing,
  createDeliveryQueue,
  type DeliveryQueue,
  freeIn,
  isForgettable,
  takeSlot,
} from './delivery-queue.ts'
import { createOwnLeases } from './own-leases.ts'
import { createRunning } from './running.ts'
import type { Settlement } from './settle.sql.ts'
import { type Settled, settleDeliveries } from './settle.ts'
import { createSweep } from './sweep.ts'

export interface DeliveryQueues {
  /** Accepts due deliveries up to the capacity of their queues. The others follow when there is capacity. Resolves once they are leased. */
  take: (deliveries: readonly DeliveryRef[]) => Promise<void>
  /** Starts the sweep for unreported deliveries and the renewal of leases. Disposal waits {@link stopMs} for attempts, then aborts them. */
  start: () => AsyncDisposable
}

/** Concurrent attempts in this process. */
const mostAttempts = 2_000
const stopMs = 5_000
/** For retry delays up to this one, a timer also triggers the attempt. It is more exact than a job. */
const timerMs = 60_000

export const deliveryQueues = definePart((app) => createDeliveryQueues(app, mostAttempts))

/** The queues of one process, with about `limit` concurrent attempts. */
export function createDeliveryQueues(app: App, limit: number): DeliveryQueues {
  const queues = new Map<string, DeliveryQueue>()
  const running = createRunning(limit)
  const timers = new Set<NodeJS.Timeout>()
  /** True once no attempt may begin. */
  let closing = false
  const stopping = new AbortController()
  const claims = createClaims(app)
  const leases = createOwnLeases(app, running.leases)
  const sweep = createSweep(app, {
    keepLeases: leases.keep,
    isClosing: () => closing,
    found(endpointId) {
      queueOf(endpointId).behind = true
      // Not awaited: it may wait for other attempts to end, and the next sweep must not.
      void refill(endpointId)
    },
  })
  const settle = createBatch<Settlement, Settled>({
    max: 200,
    parallel: 2,
    slowMs: 100,
    run: (all) => runApartOnFailure(all, (list) => settleDeliveries(app, list)),
  })

  function queueOf(endpointId: string): DeliveryQueue {
    const queue = queues.get(endpointId) ?? createDeliveryQueue()
    queues.set(endpointId, queue)
    return queue
  }

  async function take(deliveries: readonly DeliveryRef[]): Promise<void> {
    await running.whenFree(async () => {
      const admitted = deliveries.filter(({ endpointId }) => takeSlot(queueOf(endpointId), running.isCrowded()))
      await Promise.all(
        admitted.map(({ id, endpointId }) =>
          begin(endpointId, 1, async () => [await claims.one(id)].flatMap((delivery) => delivery ?? [])),
        ),
      )
    })
  }

  /** Claims and starts attempts in so many reserved slots of a queue, and releases the slots that were not needed. */
  async function begin(endpointId: string, slots: number, claim: () => Promise<ClaimedDelivery[]>): Promise<number> {
    return await running.reserve(slots, async () => {
      let claimed: ClaimedDelivery[] = []
      try {
        await leases.keep()
        if (!closing) claimed = await claim()
      } finally {
        for (let i = claimed.length; i < slots; i++) leave(endpointId)
      }
      for (const delivery of claimed) {
        if (delivery.failing) beginFailing(queueOf(endpointId))
        running.add(delivery, run(delivery))
      }
      return claimed.length
    })
  }

  async function run(delivery: ClaimedDelivery): Promise<void> {
    const { id, endpointId } = delivery
    try {
      const made = await attemptInSlot(delivery)
      // The outcome waits until the database takes it, so that nothing is delivered twice without need.
      const gap = await untilStored(
        app,
        () => settle({ delivery, ...made }),
        () => stopping.signal.aborted,
      )
      if (gap !== null && gap <= timerMs) wakeAfter(gap, { id, endpointId })
    } catch (error) {
      // The lease expires, and the sweep finds the delivery.
      app.log.warn({ deliveryId: id, err: (error as Error).message }, 'webhook attempt not settled')
    }
  }

  async function attemptInSlot(delivery: ClaimedDelivery): Promise<Attempt> {
    let made: Attempt | undefined
    try {
      made = await attempt(app, delivery, stopping.signal)
      return made
    } finally {
      adapt(queueOf(delivery.endpointId), made?.verdict.delivered ?? false)
      leave(delivery.endpointId)
    }
  }

  function leave(endpointId: string): void {
    const queue = queueOf(endpointId)
    queue.busy--
    if (queue.behind) void refill(endpointId)
    else if (isForgettable(queue)) queues.delete(endpointId)
  }

  /** Claims deliveries that wait in the database, until none waits or the queue has no capacity. */
  async function refill(endpointId: string): Promise<void> {
    const queue = queueOf(endpointId)
    if (queue.refilling) return
    queue.refilling = true
    try {
      while (queue.behind && freeIn(queue, running.isCrowded()) > 0 && !closing) {
        await running.whenFree(async () => {
          const most = freeIn(queue, running.isCrowded())
          if (most === 0) return
          queue.busy += most
          queue.behind = false
          const count = await begin(endpointId, most, () => claims.waiting({ endpointId, most }))
          if (count === most) queue.behind = true
        })
      }
    } catch (error) {
      app.log.warn({ err: (error as Error).message }, 'waiting webhook deliveries not read')
    } finally {
      queue.refilling = false
    }
  }

  function wakeAfter(gap: number, delivery: DeliveryRef): void {
    const timer = setTimeout(() => {
      timers.delete(timer)
      // If this fails, the delivery's job does the same a little later.
      void take([delivery]).catch(() => {})
    }, gap + 2)
    timers.add(timer.unref())
  }

  async function stop(): Promise<void> {
    closing = true
    for (const timer of timers) clearTimeout(timer)
    await Promise.race([running.ended(), pause(stopMs, undefined, { ref: false })])
    // Attempts that still hang are aborted. Another process continues with their deliveries.
    stopping.abort()
    await running.ended()
    await sweep[Symbol.asyncDispose]()
    await leases[Symbol.asyncDispose]()
  }

  return {
    take,
    start() {
      sweep.start()
      leases.start()
      return { [Symbol.asyncDispose]: stop }
    },
  }
}
