// Tests of how soon something comes, or of how much it takes, on a machine that others use too.

/** For a test's options: it is measured again where it was too slow, or took too much. What is wrong in any other way fails at once. */
export const measuredAgain = { retry: { count: 2, condition: /to be less than/ } }

/** What is measured: played ahead the first time, and anew whenever it is measured again. */
export function playedAhead<T>(ahead: () => T, play: () => Promise<T>): () => Promise<T> {
  let measured = 0
  return async () => (measured++ === 0 ? ahead() : await play())
}
