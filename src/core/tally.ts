// Counts what is in progress in this process, by name.

export interface Tally {
  /** The sum under a name; 0 if nothing is in progress. */
  of: (name: string) => number
  /** Adds to a sum. A negative number takes away; nothing is kept of a sum that falls to 0. */
  add: (name: string, n: number) => void
}

export function createTally(): Tally {
  const sums = new Map<string, number>()
  return {
    of: (name) => sums.get(name) ?? 0,
    add(name, n) {
      const sum = (sums.get(name) ?? 0) + n
      if (sum > 0) sums.set(name, sum)
      else sums.delete(name)
    },
  }
}
