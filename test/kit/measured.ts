// Options for tests that measure time or memory on a machine with other load.

/**
 * Test options that repeat a measurement which took too much time or memory ("to be less than"). Any other failure fails at
 * once.
 */
export const measuredAgain = { retry: { count: 2, condition: /to be less than/ } }

/**
 * The most of a promised time, in milliseconds or seconds, that a test accepts. `npm test` runs many files at the same time on machines of
 * any speed, and accepts five times as much; the project `timed` (`npm run test:deep`) accepts no more than was promised.
 */
export function allowed(promised: number): number {
  return process.env.EXACT_TIMES ? promised : 5 * promised
}

/** Returns the result that was computed in advance on the first call, and a new one on each retry. */
export function playedAhead<T>(ahead: () => T, play: () => Promise<T>): () => Promise<T> {
  let measured = 0
  return async () => (measured++ === 0 ? ahead() : await play())
}
