// How soon an answer comes on a machine that others use too: at its best. Noise is not always there; a slow path always is.
import { setTimeout as pause } from 'node:timers/promises'

export interface PromptOptions<T> {
  /** The answer must come within this. */
  withinMs?: number
  /** How long to go on asking until one does. */
  patienceMs?: number
  /** What it says of itself that it took, where that is not the time until it came. */
  tookMs?: (answer: T) => number
}

const leastTries = 10

/** Asks until an answer comes in time, and returns that one. @throws with the fastest time when none did. */
export async function promptly<T>(ask: () => T | Promise<T>, options: PromptOptions<T> = {}): Promise<T> {
  const { withinMs = 100, patienceMs = 10_000, tookMs } = options
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
    // What disturbs is given time to pass.
    await pause(20 * tries)
  }
}
