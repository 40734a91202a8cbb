// The sweep for deliveries that no job reports, mainly after a crash: finds their endpoints, and ends those that must not be attempted.
import type { App } from '../core/app.ts'
import { createLessOften } from '../core/less-often.ts'
import { closeStranded, findOverdue } from './sweep.sql.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'

/** Time between two sweeps after one that found something, and the longest time after one that found nothing. */
const sweepMs = 1_000
const quietSweepMs = 5_000

export interface Sweep {
  /** Called before each sweep. */
  keepLeases: () => Promise<void>
  /** True once nothing may begin or end. */
  isClosing: () => boolean
  /** Called for each endpoint with deliveries that no job reports. */
  found: (endpointId: string) => void
}

/** Sweeps once it is started. */
export function createSweep(app: App, { keepLeases, isClosing, found }: Sweep): Upkeep {
  const lessOften = createLessOften()
  let nextAt = 0
  return createUpkeep(app, sweepMs, async () => {
    const startedAt = performance.now()
    if (startedAt < nextAt || !lessOften.isDue()) return
    await keepLeases()
    const { endpointIds, leaseEndsInMs } = await lessOften.during(() => findOverdue(app.pool))
    // The next sweep comes with the end of a lease, because its process may have died: what it left is attempted within 12 s.
    nextAt = endpointIds.length > 0 ? 0 : startedAt + Math.min(quietSweepMs, leaseEndsInMs ?? quietSweepMs)
    if (endpointIds.length === 0 || isClosing()) return
    await closeStranded(app.pool, endpointIds)
    for (const endpointId of endpointIds) found(endpointId)
  })
}
