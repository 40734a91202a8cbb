// Keeps PostgreSQL from using an index for a condition that matches too many rows.

/**
 * SQL: the condition, for which PostgreSQL uses no index. It stands beside one that finds the rows by their keys. While the statistics do not know
 * an owner yet, PostgreSQL expects one row of it, and by an index of that condition it would read all of them, often once for each key.
 */
export function unindexed(condition: string): string {
  return `coalesce(${condition}, false)`
}
