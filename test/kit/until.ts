// Waiting for something to become true, instead of for time to pass.
import { setTimeout as pause } from 'node:timers/promises'

export interface UntilOptions {
  /** Said where the time is part of the promise; without it, what a busy machine may need. */
  timeoutMs?: number
  everyMs?: number
}

/**
 * Calls `condition` until what it returns is true-ish, and returns that. What it throws counts as not yet.
 * @throws when the time is over, with what it threw last.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<NonNullable<T>, false>> {
  const { timeoutMs = 30_000, everyMs = 20 } = options
  const deadline = Date.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value as Exclude<NonNullable<T>, false>
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (Date.now() > deadline) throw new Error(`Not true within ${timeoutMs} ms: ${condition.toString()}`, { cause })
    await pause(everyMs)
  }
}
