// The requirements of the gateway for a pooler that shares its connections by transaction.
import { timeLimits } from './database.ts'
import { withPool } from './short-pool.ts'

/** Gives a connection its time limits. A pooler runs it on each connection that it opens to the server. */
export const limitingStatement = Object.entries(timeLimits)
  .map(([name, ms]) => `set ${name} = ${ms}`)
  .join('; ')

/**
 * Returns advice if connections through the pooler have no time limits, else undefined. Clients cannot set them through such a pooler.
 * Without them a statement can hold a connection for ever.
 * @throws Error when the pooler cannot be reached.
 */
export async function adviseOnLimits(url: string): Promise<string | undefined> {
  return await withPool(url, { max: 1 }, async (pool) => {
    const { rows } = await pool.query<{ name: string }>(
      `select name from pg_settings where name = any($1) and setting = '0' order by name`,
      [Object.keys(timeLimits)],
    )
    if (rows.length === 0) return undefined
    const missing = rows.map(({ name }) => name).join(', ')
    return `connections through DATABASE_URL have no ${missing}; with PgBouncer, add connect_query='${limitingStatement}' to the line of the database`
  })
}
