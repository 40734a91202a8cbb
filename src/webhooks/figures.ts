// Figures of an endpoint's answers within a window of time, from the log of attempts.
import type { Context } from '../core/context.ts'
import { dayMs, hourMs, minuteMs } from '../core/durations.ts'
import { load, loadFound } from '../core/graph/load.ts'
import type { WebhookAttempt } from '../generated/prisma/client.ts'
import { type EndpointFigures, readAttempts, readFigures } from './attempts.sql.ts'

export const windows = {
  hour: { windowMs: hourMs, bucketMs: 5 * minuteMs },
  day: { windowMs: dayMs, bucketMs: hourMs },
  week: { windowMs: 7 * dayMs, bucketMs: 6 * hourMs },
  month: { windowMs: 30 * dayMs, bucketMs: dayMs },
} as const

export type HealthWindow = keyof typeof windows

/** Most attempts that one request counts. Its endpoints share them, {@link leastEach} for each at least. */
const mostInAll = 50_000
const leastEach = 1_000

/** Attempts of a delivery that its log shows. */
export const shownAttempts = 20

/** The figures of an endpoint; those of several in a request are read together. */
export async function figuresOf(ctx: Context, endpointId: string, window: HealthWindow): Promise<EndpointFigures> {
  const span = windows[window]
  return await load(ctx, `figures of endpoints, ${window}`, endpointId, async (ids) => {
    const most = Math.max(leastEach, Math.floor(mostInAll / ids.length))
    const byId = new Map((await readFigures(ctx.app.pool, ids, { ...span, most })).map((row) => [row.endpointId, row]))
    const none = {
      attempts: 0,
      failed: 0,
      p95Ms: null,
      lastFailure: null,
      buckets: [],
      from: new Date(Date.now() - span.windowMs),
    }
    return ids.map((id) => byId.get(id) ?? { endpointId: id, ...none })
  })
}

/** The last attempts of a delivery, in their order. */
export async function attemptsOf(ctx: Context, deliveryId: string): Promise<WebhookAttempt[]> {
  return await loadFound(ctx, 'attempts of deliveries', deliveryId, [], async (ids) => {
    return Map.groupBy(await readAttempts(ctx.app.pool, ids, shownAttempts), (row) => row.deliveryId)
  })
}
