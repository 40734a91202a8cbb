// Waits for a condition to become true, instead of for a fixed time.
import { setTimeout as pause } from 'node:timers/promises'

/** The default suits a busy machine. */
export const hungMs = 60_000

export interface UntilOptions {
  /** Set where the time is part of the promise. By default {@link hungMs}. */
  timeoutMs?: number
  /** By default a tenth of the time so far, 20 ms at least and 100 ms at most. */
  everyMs?: number
}

/**
 * Calls `condition` until it returns a truthy value, and returns that. An exception counts as not yet true.
 * @throws when the time is over, with the last exception as its cause.
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  options: UntilOptions = {},
): Promise<Exclude<NonNullable<T>, false>> {
  const { timeoutMs = hungMs, everyMs } = options
  const begin = Date.now()
  let cause: unknown
  for (;;) {
    try {
      const value = await condition()
      if (value) return value as Exclude<NonNullable<T>, false>
      cause = undefined
    } catch (error) {
      cause = error
    }
    const soFar = Date.now() - begin
    if (soFar > timeoutMs) throw new Error(`Not true within ${timeoutMs} ms: ${condition.toString()}`, { cause })
    await pause(everyMs ?? Math.min(100, Math.max(20, soFar / 10)))
  }
}
