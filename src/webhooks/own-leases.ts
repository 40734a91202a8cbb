// Keeps the leases of the attempts of one process, also over an outage of the database.
import type { App } from '../core/app.ts'
import { type Lease, renewLeases } from './claim.sql.ts'
import { leaseMs } from './policy.ts'
import { createUpkeep, type Upkeep } from './upkeep.ts'

/** Renews the leases periodically once it is started. */
export interface OwnLeases extends Upkeep {
  /**
   * During a database outage, leases may have expired. They are renewed before this process claims or ends anything, so that a delivery
   * whose outcome only waits to be written is left alone.
   */
  keep: () => Promise<void>
}

/** `held` returns the leases of the attempts that are made at the time of each renewal. */
export function createOwnLeases(app: App, held: () => Lease[]): OwnLeases {
  /** Time of the last renewal of all leases of this process. */
  let renewedAt = performance.now()
  let renewal: Promise<void> | undefined

  async function renew(): Promise<void> {
    const now = performance.now()
    const leases = held()
    if (leases.length > 0) await renewLeases(app.pool, leases)
    renewedAt = now
  }

  return {
    ...createUpkeep(app, leaseMs / 3, renew),
    async keep() {
      if (performance.now() - renewedAt <= leaseMs / 2) return
      // One renewal for all callers that waited for the database.
      renewal ??= renew().finally(() => {
        renewal = undefined
      })
      await renewal
    },
  }
}
