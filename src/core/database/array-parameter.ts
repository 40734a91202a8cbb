// Array parameters of prepared statements.

/**
 * SQL of a parameter that is an array whose length the planner must not see, such as `arrayOf('$1', 'uuid')`. PostgreSQL plans a prepared
 * statement anew for each execution as long as a plan for the given length seems cheaper than one for any length, which is mostly so for a
 * short array. Planning then took 0.7 of the database's time for messages that are sent one by one (`npm run bench -- latency`).
 */
export function arrayOf(parameter: `$${number}`, type: string): string {
  return `(select ${parameter}::${type}[])::${type}[]`
}
