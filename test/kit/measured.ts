// Options for tests that measure time or memory on a machine with other load.

/**
 * Test options that repeat a measurement which took too much time or memory ("to be less than"). Any other failure fails at
 * once.
 */
export const measuredAgain = { retry: { count: 2, condition: /to be less than/ } }

/** Returns the result that was computed in advance on the first call, and a new one on each retry. */
export function playedAhead<T>(ahead: () => T, play: () => Promise<T>): () => Promise<T> {
  let measured = 0
  return async () => (measured++ === 0 ? ahead() : await play())
}
