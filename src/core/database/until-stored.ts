// Repeats a write that the database does not take for now.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../app.ts'
import { isConflict, isUnavailable } from '../public-failure.ts'

/** In milliseconds. */
const firstWait = 100
const longestWait = 1_000

/**
 * Runs `write` until it succeeds (exponential backoff), while the database is unavailable or too busy for it, and until `isOver`, by default
 * once the process is stopping. A write that was stored without an answer runs again, so it must change nothing the second time.
 * @throws the error of `write`, if it is another one or if the time is over.
 */
export async function untilStored<T>(
  app: Pick<App, 'stopping'>,
  write: () => Promise<T>,
  isOver = () => app.stopping,
): Promise<T> {
  for (let waitMs = firstWait; ; waitMs = Math.min(waitMs * 2, longestWait)) {
    try {
      return await write()
    } catch (error) {
      if (isOver() || !(isUnavailable(error) || isConflict(error))) throw error
      await pause(waitMs)
    }
  }
}
