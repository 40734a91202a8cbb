// Short-lived connection pools, for code that runs before or beside the gateway's own pool.
import pg from 'pg'
import { Client } from './client.ts'

/** A database that does not accept a connection in this time counts as down. */
const connectMs = 5_000

/** Runs `work` on a pool that is closed afterwards. @throws Error when no connection is available within 5 s. */
export async function withPool<T>(
  databaseUrl: string,
  settings: Omit<pg.PoolConfig, 'connectionString'>,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const pool = new pg.Pool({ connectionTimeoutMillis: connectMs, Client, ...settings, connectionString: databaseUrl })
  // A connection that breaks while idle fails the next statement, which reports the error.
  pool.on('error', () => {})
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
