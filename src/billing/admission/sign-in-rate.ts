// Rate limit per person for the sign-in routes that take a session. Its window is separate from that of other requests.
import { v5 } from 'uuid'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { failure } from '../../core/errors.ts'
import { definePart } from '../../core/part.ts'
import { takeFromWindows } from './rate-window.sql.ts'
import { stepMs } from './rate-window.ts'

/** Allows as many requests per second as a person's other requests get. Exact across all processes. */
const signInRate = definePart(createSignInRate)

/**
 * Takes one request from the person's per-second limit for sign-in routes.
 * @throws API_RATE_LIMIT_EXCEEDED when the limit is used up.
 */
export async function limitSignIn(app: App, userId: string): Promise<void> {
  await signInRate(app)(userId)
}

function createSignInRate(app: App): (userId: string) => Promise<void> {
  const limit = app.config.personRateLimitPerSecond
  return createBatch<string, void>({
    max: 200,
    parallel: 2,
    async run(userIds) {
      const ids = userIds.map((userId) => v5('sign-in', userId))
      const left = await takeFromWindows(app.pool, ids, limit, stepMs(limit))
      return ids.map((id) => {
        const rest = left.get(id) ?? 0
        left.set(id, rest - 1)
        return rest > 0
          ? undefined
          : failure('API_RATE_LIMIT_EXCEEDED', 'Too many requests of this kind in one second; try again later')
      })
    },
  })
}
