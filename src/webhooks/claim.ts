// Claims deliveries. An attempt is counted and leased before it is made, so that a crash can neither repeat it for ever nor lose it.
import type { App } from '../core/app.ts'
import { createBatch } from '../core/batch.ts'
import { untilStored } from '../core/database/until-stored.ts'
import { newId } from '../core/id.ts'
import { type ClaimedDelivery, claimByIds, claimWaiting } from './claim.sql.ts'

export interface Claims {
  /** Claims a delivery that is due and not leased; undefined if it is not. */
  one: (id: string) => Promise<ClaimedDelivery | undefined>
  /** Claims the deliveries of an endpoint that have waited longest, `most` at most. */
  waiting: (queue: { endpointId: string; most: number }) => Promise<ClaimedDelivery[]>
}

/**
 * Claims many in one statement (batching), so that any number of endpoints takes only a few connections. Each statement has a token of its own,
 * under which it is repeated if its answer is lost. It may have counted and leased attempts, which nobody would make.
 */
export function createClaims(app: App): Claims {
  const claim = (run: (token: string) => Promise<ClaimedDelivery[]>) => {
    const token = newId()
    return untilStored(app, () => run(token))
  }
  return {
    one: createBatch({
      max: 500,
      parallel: 2,
      run: async (ids) => {
        const byId = new Map((await claim((token) => claimByIds(app.pool, token, ids))).map((row) => [row.id, row]))
        // Two jobs may ask for the same delivery. Only one gets it.
        return ids.map((id) => take(byId, id))
      },
    }),
    waiting: createBatch({
      max: 100,
      parallel: 2,
      run: async (asked) => {
        const claimed = await claim((token) => claimWaiting(app.pool, token, asked))
        const byQueue = Map.groupBy(claimed, (row) => row.endpointId)
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
