// Measures the best response time on a machine with other load: noise is intermittent; a slow code path is slow every time.
import { setTimeout as pause } from 'node:timers/promises'
import { allowed } from './measured.ts'

export interface PromptOptions<T> {
  /** The promised response time; see {@link allowed}. */
  withinMs?: number
  /** Set where the time is no promise but a condition of what the test compares. */
  exact?: boolean
  /** How long to repeat the request until one answer is in time. */
  patienceMs?: number
  /** The duration that the answer itself reports, used instead of the time until it came. */
  tookMs?: (answer: T) => number
}

const leastTries = 10

/** Repeats the request until an answer comes in time, and returns that one. @throws with the fastest time when none did. */
export async function promptly<T>(ask: () => T | Promise<T>, options: PromptOptions<T> = {}): Promise<T> {
  const { withinMs: promisedMs = 100, exact = false, patienceMs = 10_000, tookMs } = options
  const withinMs = exact ? promisedMs : allowed(promisedMs)
  const deadline = performance.now() + patienceMs
  let bestMs = Number.POSITIVE_INFINITY
  for (let tries = 1; ; tries++) {
    const begun = performance.now()
    const answer = await ask()
    const took = tookMs ? tookMs(answer) : performance.now() - begun
    if (took < withinMs) return answer
    bestMs = Math.min(bestMs, took)
    if (tries >= leastTries && performance.now() > deadline) {
      throw new Error(`Of ${tries} answers the fastest took ${bestMs.toFixed(0)} ms; at most ${withinMs} are allowed`)
    }
    // The pause gives the disturbance time to pass.
    await pause(20 * tries)
  }
}
