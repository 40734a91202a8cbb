// Connections for a while: for what runs before or beside the gateway's own.
import pg from 'pg'

/** A database that is not there for so long does not answer. */
const connectMs = 5_000

/** Runs `work` on a pool that ends with it. @throws where no connection is to be had within 5 s. */
export async function withPool<T>(
  databaseUrl: string,
  settings: Omit<pg.PoolConfig, 'connectionString'>,
  work: (pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const pool = new pg.Pool({ connectionTimeoutMillis: connectMs, ...settings, connectionString: databaseUrl })
  // A connection that breaks while idle fails the next statement, which says so.
  pool.on('error', () => {})
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
