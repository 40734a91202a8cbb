// Access to PostgreSQL over one pool: Prisma for the graph's reads and ordinary writes, SQL for set operations.
import type { Socket } from 'node:net'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient } from '../../generated/prisma/client.ts'
import { createBatch } from '../batch.ts'
import { metered, runningBudget } from '../graph/budget.ts'
import { createShare } from '../share.ts'
import { Client, PooledClient } from './client.ts'
import { type ForgottenWatch, watchForgotten } from './forgotten.ts'
import { sessionOptions } from './session.ts'
import { shareConnection } from './shared-connection.ts'

export type Db = PrismaClient
/** Anything that runs SQL: the pool, or one connection inside a transaction. */
export interface Sql {
  query: <Row extends pg.QueryResultRow = Record<string, unknown>>(
    text: string | pg.QueryConfig,
    values?: unknown[],
  ) => Promise<pg.QueryResult<Row>>
}

export interface Database extends AsyncDisposable {
  pool: pg.Pool
  /** Connections with asynchronous commit, for counters: a crash of the database may lose their last moment. */
  quickPool: pg.Pool
  /** For reads of a few rows by an index: those of the same moment share a round trip. */
  batchedRead: Read
  db: Db
  /** Finds connections that the network has forgotten. */
  forgotten: ForgottenWatch
}

/** Longer than any statement may take. A server silent for so long is frozen, or the network has forgotten the connection. */
export const longestSilenceMs = 12_000

export interface DatabaseOptions {
  /** URL for sessions, if `url` leads to a pooler that shares its connections by transaction. */
  directUrl?: string | undefined
  /** Size of the pool. */
  max?: number
  silenceMs?: number
}

/** In milliseconds. A pooler accepts none of them from its clients and must set them itself (pooler.ts). */
export const timeLimits = { statement_timeout: 10_000, lock_timeout: 5_000, idle_in_transaction_session_timeout: 5_000 }

/**
 * Opens the pools. A statement ends after 10 s; waits for a lock, for a free connection and, inside a transaction, for the next
 * statement end after 5 s. The server enforces these times, except for the wait for a connection. A connection without traffic
 * for `silenceMs` is closed, because its server cannot be reached.
 */
export function openDatabase(url: string, onError: (error: Error) => void, options: DatabaseOptions = {}): Database {
  const { directUrl, max = 10, silenceMs = longestSilenceMs } = options
  const settings = {
    connectionTimeoutMillis: 5_000,
    application_name: 'gateway',
    // Statements that do not depend on each other's results share a round trip.
    pipeline: true,
  }
  const direct = { ...settings, ...timeLimits, options: sessionOptions, connectionString: directUrl ?? url, Client }
  const pool = new MeteredPool(directUrl ? { ...settings, connectionString: url, Client: PooledClient, max } : { ...direct, max })
  const quickPool = new pg.Pool({ ...direct, max: 2, options: `${sessionOptions} -c synchronous_commit=off` })
  const forgotten = watchForgotten(directUrl ?? url)
  for (const each of [pool, quickPool]) {
    each.on('error', onError)
    each.on('connect', (client) => {
      closeWhenSilent(streamOf(client), silenceMs)
      if (each === quickPool || !directUrl) forgotten.add(client)
    })
  }
  const db = new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: false }) })
  return {
    pool,
    quickPool,
    batchedRead: createBatchedRead(pool),
    db,
    forgotten,
    async [Symbol.asyncDispose]() {
      await db.$disconnect()
      await forgotten[Symbol.asyncDispose]()
      await Promise.all([pool.end(), quickPool.end()])
    },
  }
}

/** After a stall of the event loop, its timers run before what has arrived is read, so that is read first. */
function closeWhenSilent(stream: Socket, ms: number): void {
  stream.setTimeout(ms, () => {
    const before = stream.bytesRead
    setImmediate(() => {
      if (stream.bytesRead === before) stream.destroy()
    })
  })
}

/**
 * The connections that the reads of one payer take at once, and how many reads wait for one of them: more than fifty requests at once need. The
 * same holds for its transactions.
 */
const ofPayer = { perCaller: 3, mostWaiting: 1_000, waitMs: 30_000 }

/**
 * Counts the rows of its statements against the budget of the running operation. When the budget is spent, the connection is
 * destroyed, because the server would go on sending. Transactions are not counted; Prisma's share their connection (transaction.ts).
 *
 * The reads of one payer share few connections: ten searches of 1,000,000 messages by one key let the requests of others wait for 3 s, and for
 * 0.1 s with this bound. So do its transactions, which may wait for each other's row locks: nine requests a second that connected and logged
 * out one instance, for which 50,000 messages waited, let those of others wait for 2 s. A transaction must not begin another one, which
 * could wait for the place of the first.
 */
class MeteredPool extends pg.Pool {
  readonly #readers = createShare(ofPayer)
  readonly #transactions = createShare(ofPayer)

  override connect = ((callback?: Parameters<pg.Pool['connect']>[0]) =>
    callback ? super.connect(callback) : this.#connect(runningBudget()?.payer).then(shareConnection)) as pg.Pool['connect']

  async #connect(payer: string | undefined): Promise<pg.PoolClient> {
    if (!payer) return await super.connect()
    const turn = await this.#transactions.take(payer, 1)
    const end = () => turn.keepUntilSent(0)
    const client = await super.connect().catch((error: Error) => {
      end()
      throw error
    })
    // The pool makes a `release` each time that it hands a connection out.
    const release = client.release.bind(client)
    client.release = (error) => {
      end()
      release(error)
    }
    return client
  }

  // The only overload of `query` that is used.
  override query = ((query: string | pg.QueryConfig, values?: unknown[]) => {
    const budget = runningBudget()
    if (!budget) return super.query(query as pg.QueryConfig, values)
    const config = typeof query === 'string' ? { text: query } : query
    const read = () =>
      withClient(super.connect(), async (client) => {
        const stop = () => streamOf(client).destroy()
        return await client.query(metered(config, budget, stop), values)
      })
    return this.#readers.during(budget.payer, 1, read)
  }) as pg.Pool['query']
}

/** Runs `work` on one connection. After a call of `lose`, the pool does not use that connection again. */
export async function withConnection<T>(pool: pg.Pool, work: ConnectedWork<T>): Promise<T> {
  return await withClient(pool.connect(), work)
}

type ConnectedWork<T> = (client: pg.PoolClient, lose: (error: Error) => void) => Promise<T>

async function withClient<T>(connected: Promise<pg.PoolClient>, work: ConnectedWork<T>): Promise<T> {
  const client = await connected
  let broken: Error | undefined
  const lose = (error: Error) => {
    broken = error
  }
  // A lost connection emits `error` besides failing its statement; without a listener, that would end the process.
  client.on('error', lose)
  try {
    return await work(client, lose)
  } finally {
    client.off('error', lose)
    client.release(broken)
  }
}

/** Socket of a connection; the TLS socket if the connection is encrypted. */
function streamOf(client: pg.PoolClient): Socket {
  return (client as pg.PoolClient & { connection: { stream: Socket } }).connection.stream
}

/** Runs a statement and returns its rows as arrays. */
export type Read = (query: pg.QueryArrayConfig) => Promise<unknown[][]>

/**
 * Creates batched reads: those of the same moment share a connection and a round trip, and each gets its own result. Slow
 * statements do not belong here, because the reads behind them would wait.
 */
function createBatchedRead(pool: pg.Pool): Read {
  const read = createBatch<pg.QueryArrayConfig, unknown[][]>({
    max: 50,
    parallel: 4,
    run: (queries) =>
      withConnection(pool, async (client) => {
        const answers = queries.map((query) => client.query<unknown[]>(query))
        const settled = await Promise.allSettled(answers)
        return settled.map((answer) => (answer.status === 'fulfilled' ? answer.value.rows : (answer.reason as Error)))
      }),
  })
  return (query) => {
    const budget = runningBudget()
    return read(budget ? metered(query, budget) : query)
  }
}
