// How soon an answer comes on a machine that others use too: at its best. Noise is not always there; a slow path always is.
import { setTimeout as pause } from 'node:timers/promises'

export interface PromptOptions<T> {
  /** The answer must come within this. */
  withinMs?: number
  /** How long to go on asking until one does. */
  patienceMs?: number
  /** Work of that size without anything of ours in it: where the machine is so slow that it takes longer than `withinMs`, so may an answer. */
  bare?: () => Promise<unknown>
  /** What it says of itself that it took, where that is not the time until it came. */
  tookMs?: (answer: T) => number
}

const leastTries = 10
/** How often the bare work is done before anything is judged by the middle of its times: one alone may be noise, and the best luck. */
const leastBare = 3

/** Asks until an answer comes in time, and returns that one. @throws with the fastest time when none did. */
export async function promptly<T>(ask: () => T | Promise<T>, options: PromptOptions<T> = {}): Promise<T> {
  const { withinMs = 100, patienceMs = 10_000, bare, tookMs } = options
  const deadline = performance.now() + patienceMs
  let bestMs = Number.POSITIVE_INFINITY
  const bareMs: number[] = []
  for (let tries = 1; ; tries++) {
    const begun = performance.now()
    const answer = await ask()
    const took = tookMs ? tookMs(answer) : performance.now() - begun
    const allowedMs = bareMs.length < leastBare ? withinMs : Math.max(withinMs, medianOf(bareMs))
    if (took < allowedMs) return answer
    bestMs = Math.min(bestMs, took)
    if (tries >= leastTries && performance.now() > deadline) {
      const allowed = allowedMs.toFixed(0)
      throw new Error(`Of ${tries} answers the fastest took ${bestMs.toFixed(0)} ms; at most ${allowed} are allowed`)
    }
    if (bare) bareMs.push(await timeOf(bare))
    // What disturbs is given time to pass.
    await pause(20 * tries)
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

function medianOf(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor((list.length - 1) / 2)] as number
}
