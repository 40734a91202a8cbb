// Tests whether two lists of times differ by more than chance.

/** Welch's t of two samples; beyond ±4.5 their means differ significantly. */
export function welch(a: readonly number[], b: readonly number[]): number {
  const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length
  const variance = (list: readonly number[]) =>
    list.reduce((sum, value) => sum + (value - mean(list)) ** 2, 0) / (list.length - 1)
  return (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length)
}
