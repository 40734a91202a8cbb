// How soon an answer comes on a machine that others use too: at its best. Noise is not always there; a slow path always is.

export interface PromptOptions<T> {
  /** The answer must come within this. */
  withinMs?: number
  /** How often to ask until one does. */
  tries?: number
  /** What it says of itself that it took, where that is not the time until it came. */
  tookMs?: (answer: T) => number
}

/** Asks until an answer comes in time, and returns that one. @throws with the fastest time when none did. */
export async function promptly<T>(ask: () => T | Promise<T>, options: PromptOptions<T> = {}): Promise<T> {
  const { withinMs = 100, tries = 10, tookMs } = options
  let bestMs = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries; i++) {
    const begun = performance.now()
    const answer = await ask()
    const took = tookMs ? tookMs(answer) : performance.now() - begun
    if (took < withinMs) return answer
    bestMs = Math.min(bestMs, took)
  }
  throw new Error(`Asked ${tries} times, the fastest answer took ${bestMs.toFixed(0)} ms; at most ${withinMs} are allowed`)
}
