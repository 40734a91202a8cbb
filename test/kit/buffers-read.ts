// Counts the pages that statements touch, which grow with dead rows, while the rows that they return do not.
import type { Sql } from '../../src/core/database/database.ts'

/** Runs `work` with statements that are explained, which return no rows, and returns the pages that they touched. */
export async function buffersRead(client: Sql, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let sum = 0
  await work({
    async query(query, values) {
      const { text, values: own } = typeof query === 'string' ? { text: query, values } : query
      const { rows } = await client.query<Record<'QUERY PLAN', [{ Plan: Record<string, number> }]>>(
        `explain (analyze, buffers, format json) ${text}`,
        own,
      )
      const plan = rows[0]?.['QUERY PLAN'][0].Plan
      sum += (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
      return { rows: [], rowCount: 0, command: '', oid: 0, fields: [] }
    },
  })
  return sum
}
