// Tests of how soon something comes, on a machine that others use too.

/** For a test's options: it is measured again where it was too slow. What is wrong in any other way fails at once. */
export const measuredAgain = { retry: { count: 2, condition: /to be less than/ } }
