// How often properties are tried: a little each time, always the same; more, and other ones, when asked to.
const { PROPERTY_RUNS, PROPERTY_SEED } = process.env

/** A failure tells its seed and path; `PROPERTY_SEED` and `PROPERTY_RUNS` try others. */
export function runs(few = 20): { numRuns: number; seed: number } {
  return { numRuns: Number(PROPERTY_RUNS ?? few), seed: Number(PROPERTY_SEED ?? (PROPERTY_RUNS ? Date.now() : 1)) }
}
