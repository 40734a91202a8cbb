// Claims deliveries. An attempt is counted and leased before it is made, so that a crash can neither repeat it for ever nor lose it.
import type { App } from '../core/app.ts'
import { createBatch } from '../core/batch.ts'
import { type ClaimedDelivery, claimByIds, claimWaiting } from './claim.sql.ts'

export interface Claims {
  /** Claims a delivery that is due and not leased; undefined if it is not. */
  one: (id: string) => Promise<ClaimedDelivery | undefined>
  /** Claims the deliveries of an endpoint that have waited longest, `most` at most. */
  waiting: (queue: { endpointId: string; most: number }) => Promise<ClaimedDelivery[]>
}

/** Claims under leases of `token`, many in one statement (batching), so that any number of endpoints takes only a few connections. */
export function createClaims(app: App, token: string): Claims {
  return {
    one: createBatch({
      max: 500,
      parallel: 2,
      run: async (ids) => {
        const byId = new Map((await claimByIds(app.pool, token, ids)).map((row) => [row.id, row]))
        // Two jobs may ask for the same delivery. Only one gets it.
        return ids.map((id) => take(byId, id))
      },
    }),
    waiting: createBatch({
      max: 100,
      parallel: 2,
      run: async (asked) => {
        const byQueue = Map.groupBy(await claimWaiting(app.pool, token, asked), (row) => row.endpointId)
        return asked.map(({ endpointId }) => byQueue.get(endpointId) ?? [])
      },
    }),
  }
}

function take<Value>(from: Map<string, Value>, key: string): Value | undefined {
  const value = from.get(key)
  from.delete(key)
  return value
}
