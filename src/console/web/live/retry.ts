// The pause between two attempts to open a stream.

/** Failures in a row for which the pause stays short: a gateway that restarts is back within that. */
const soon = 40

/**
 * Milliseconds with full jitter: at most 1.5 s at first, so that the page shows the present state within 2 s of a restart, later at most
 * 30 s. `random` returns 0 to 1.
 */
export function retryAfterMs(failures: number, random: () => number = Math.random): number {
  if (failures === 0) return 100 + 400 * random()
  const most = failures <= soon ? 1_500 : Math.min(30_000, 1_500 * 2 ** (failures - soon))
  return 300 + (most - 300) * random()
}
