// The number of runs and the seed of property tests: few and deterministic by default, more and random on request.
const { PROPERTY_RUNS, PROPERTY_SEED } = process.env

/** A failure prints its seed and path; `PROPERTY_SEED` and `PROPERTY_RUNS` select others. */
export function runs(few = 4): { numRuns: number; seed: number } {
  return { numRuns: Number(PROPERTY_RUNS ?? few), seed: Number(PROPERTY_SEED ?? (PROPERTY_RUNS ? Date.now() : 1)) }
}
