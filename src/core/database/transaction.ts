// Transactions: by Prisma Client for ordinary rows, by SQL alone for sets and measured paths.
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { Prisma } from '../../generated/prisma/client.ts'
import { isConflict } from '../public-failure.ts'
import { type Db, type Sql, withConnection } from './database.ts'
import { withoutSharing, withSharedConnection } from './shared-connection.ts'

/** One transaction: Prisma Client and SQL on the same connection. */
export interface Tx extends Sql {
  db: Prisma.TransactionClient
}

/** One transaction of SQL alone. */
export interface SqlTx extends Sql {
  /**
   * Sends the one statement of `write`, whose answer nobody waits for before the commit: both share a round trip. Resolves when it is sent.
   * If it fails, nothing is committed, and the transaction fails with its error.
   */
  sendLast: (write: (tx: Sql) => Promise<unknown>) => Promise<void>
}

/** Longer than any wait for a connection, whose own limit decides; see database.ts. */
const maxWait = 65_000
/**
 * As long as a timer can be: the limits of the connection bound each statement, and each wait between two. At a limit of its own, Prisma Client
 * rolls back and returns the connection to the pool while `work` goes on. Its next statements would run in no transaction, or in that of another.
 */
const timeout = 2 ** 31 - 1

/** Runs `work` in one transaction of Prisma Client, at most three times: a deadlock or a serialization failure runs it again. */
export async function transaction<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> {
  return await withRetries(() =>
    withSharedConnection((connection) =>
      db.$transaction(
        async (prisma) => {
          const client = connection()
          const { query, end } = statementsOf(client)
          const result = await withoutSharing(() => work({ db: prisma, query })).finally(end)
          // Fails in an aborted transaction, for example after an error was swallowed: PostgreSQL answers its commit with ROLLBACK and
          // no error, and Prisma Client does not look at that answer.
          await client.query('select')
          return result
        },
        { maxWait, timeout },
      ),
    ),
  )
}

/**
 * Runs `work` in one transaction of SQL alone, at most `tries` times. It saves two round trips and the work of Prisma Client
 * (`npm run bench -- accept`).
 */
export async function sqlTransaction<T>(pool: pg.Pool, work: (tx: SqlTx) => Promise<T>, tries = 3): Promise<T> {
  return await withRetries(() => attempt(pool, work), tries)
}

/** Backoff with jitter: a transaction that is run again at once can take a row lock before the one that waits for it, and deadlock again. */
const pauseMs = () => 20 + 80 * Math.random()

async function withRetries<T>(run: () => Promise<T>, tries = 3): Promise<T> {
  for (let left = tries - 1; ; left--) {
    try {
      return await run()
    } catch (error) {
      if (left <= 0 || !isConflict(error)) throw error
      await pause(pauseMs())
    }
  }
}

/**
 * The statements of a transaction on this connection, until `end`. A part of its work can still be running when another part has failed. What it
 * asks after that must not run in no transaction, or in that of another.
 */
function statementsOf(client: pg.PoolClient): Sql & { end: () => void } {
  let hasEnded = false
  const query = (text: string | pg.QueryConfig, values?: unknown[]) =>
    hasEnded ? Promise.reject(new Error('the transaction has ended')) : client.query(text, values)
  return {
    query: query as Sql['query'],
    end() {
      hasEnded = true
    },
  }
}

async function attempt<T>(pool: pg.Pool, work: (tx: SqlTx) => Promise<T>): Promise<T> {
  return await withConnection(pool, async (client, lose) => {
    const { query, end } = statementsOf(client)
    try {
      // Not awaited: the first statement shares its round trip, and fails too if this one does.
      const begun = client.query('begin')
      begun.catch(() => {})
      const last: Promise<unknown>[] = []
      const result = await work({ query, sendLast: (write) => sendLast(query, write, last) }).finally(end)
      // If one of the last statements failed, PostgreSQL has aborted the transaction when the commit arrives.
      const [{ command }] = await Promise.all([client.query('commit'), begun, ...last])
      // PostgreSQL answers the commit of an aborted transaction with ROLLBACK and no error, for example after an error was swallowed.
      if (command !== 'COMMIT') throw new Error('the current transaction is aborted')
      return result
    } catch (error) {
      await client.query('rollback').catch(lose)
      throw error
    }
  })
}

async function sendLast(query: Sql['query'], write: (tx: Sql) => Promise<unknown>, last: Promise<unknown>[]): Promise<void> {
  const sent = Promise.withResolvers<void>()
  let isSent = false
  const ask = <Row extends pg.QueryResultRow>(text: string | pg.QueryConfig, values?: unknown[]) => {
    // A second one might be sent after the commit.
    if (isSent) throw new Error('a last statement must be the only one')
    isSent = true
    const answer = query<Row>(text, values)
    sent.resolve()
    return answer
  }
  const written = write({ query: ask })
  last.push(written)
  // Has no effect once it is sent.
  written.then(() => sent.resolve(), sent.reject)
  await sent.promise
}
