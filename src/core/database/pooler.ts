// The requirements of the gateway for a pooler that shares its connections by transaction.
import { PooledClient } from './client.ts'
import { timeLimits } from './database.ts'
import { withPool } from './short-pool.ts'

/** Gives a connection its time limits. A pooler runs it on each connection that it opens to the server. */
export const limitingStatement = Object.entries(timeLimits)
  .map(([name, ms]) => `set ${name} = ${ms}`)
  .join('; ')

/** The same for settings that the server, the database or the role can have changed. Without quotes, which end the value of `connect_query`. */
const restoring = {
  search_path: 'set search_path = public',
  default_transaction_isolation: 'set session characteristics as transaction isolation level read committed',
}

/**
 * Returns advice if connections through the pooler have no time limits, or settings with which statements mean something else; otherwise
 * undefined. Clients cannot set them through such a pooler. Without time limits a statement can hold a connection for ever.
 * @throws Error when the pooler cannot be reached.
 */
export async function adviseOnSettings(url: string): Promise<string | undefined> {
  return await withPool(url, { max: 1, Client: PooledClient }, async (pool) => {
    const { rows } = await pool.query<{ name: string }>(
      `select name from pg_settings
       where name = any($1) and setting = '0'
         or name = 'search_path' and current_schema() is distinct from 'public'
         or name = 'default_transaction_isolation' and setting <> 'read committed' order by name`,
      [Object.keys(timeLimits)],
    )
    if (rows.length === 0) return undefined
    const wrong = rows.map(({ name }) => name)
    const restored = Object.entries(restoring).flatMap(([name, statement]) => (wrong.includes(name) ? [statement] : []))
    const statement = [limitingStatement, ...restored].join('; ')
    return `connections through DATABASE_URL have no suitable ${wrong.join(', ')}; with PgBouncer, add connect_query='${statement}' to the line of the database`
  })
}
