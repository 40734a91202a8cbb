// A connection to PostgreSQL with settings of its own that joins its writes, and whose results stay in the young generation of V8's heap.
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { dialect } from './session.ts'

/**
 * Prisma writes and reads times without an offset, as times of UTC. pg reads dates in ISO style only. Migrations contain backslashes in
 * strings. The server or the role may have other settings. A pooler passes these startup parameters on, and refuses `options`.
 */
const startupSettings = { TimeZone: 'UTC', DateStyle: 'ISO', standard_conforming_strings: 'on' }

/** pg's own startup parameters. Its types do not declare the method. */
const { getStartupConf } = pg.Client.prototype as pg.Client & { getStartupConf: () => Record<string, string> }

type Ask = (query: unknown, values: unknown, done: (error: Error | undefined, result: pg.QueryResult) => void) => void

/**
 * Asks by callback and makes the promise itself. The promise that pg makes keeps the result reachable from that of the statement
 * before, once one of them is in the old generation: the rows of every later statement then wait for a major collection. In a loop of
 * 1,800 statements of 100 rows, 60 MB of rows stayed; with this class none.
 */
export class Client extends pg.Client {
  /** True if statements with a name are prepared under it. */
  protected readonly prepares: boolean = true

  /** Settings that follow those of the address of the database, and win over them. */
  protected readonly lastOptions: string = dialect

  /** Called by pg when it connects. */
  getStartupConf(): Record<string, string> {
    const { options, ...settings } = getStartupConf.call(this)
    const all = [options, this.lastOptions].filter(Boolean).join(' ')
    return { ...settings, ...startupSettings, ...(all && { options: all }) }
  }

  override query = ((given: string | pg.QueryConfig | pg.Submittable, values?: unknown, done?: unknown) => {
    // pg takes a configuration or a submittable in place of the text, too.
    const ask: Ask = (query, values, done) => super.query(query as string, values as unknown[], done)
    const query = this.prepares ? given : withoutName(given)
    joinWrites(this.connection.stream)
    const byPromise = typeof values !== 'function' && typeof done !== 'function' && !isSubmittable(query)
    if (!byPromise) return ask(query, values, done as Parameters<Ask>[2])
    return resultOf((settle) => ask(query, values, settle))
  }) as pg.Client['query']
}

/**
 * A connection through a pooler that gives every transaction another connection to the server. A statement that one of them prepared
 * is unknown to the next, so none is prepared under a name. Such a pooler refuses options; it must set them itself (pooler.ts).
 */
export class PooledClient extends Client {
  protected override readonly prepares = false
  protected override readonly lastOptions = ''
}

/**
 * The statements of one turn of the event loop leave in one write, because each write wakes a process of the server. In
 * `npm run bench -- accept` the gateway reaches 1.09 of the bare insert with it, and 1.03 without.
 */
function joinWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

function withoutName(query: string | pg.QueryConfig | pg.Submittable): typeof query {
  if (typeof query === 'string' || isSubmittable(query)) return query
  const { name: _, ...unnamed } = query
  return unnamed
}

function isSubmittable(query: string | pg.QueryConfig | pg.Submittable): query is pg.Submittable {
  return typeof query === 'object' && query !== null && 'submit' in query
}

async function resultOf(ask: (settle: Parameters<Ask>[2]) => void): Promise<pg.QueryResult> {
  try {
    return await new Promise((resolve, reject) => {
      ask((error, result) => (error ? reject(error) : resolve(result)))
    })
  } catch (error) {
    // The stack of a database error ends in the socket; this one leads to the statement.
    Error.captureStackTrace(error as Error)
    throw error
  }
}
