// Makes a database refuse, delay or block one kind of statement until the test has observed what it needs.
import type pg from 'pg'
import { atEnd } from './at-end.ts'
import { sql } from './database.ts'
import { until } from './until.ts'

type Statement = 'insert' | 'update' | 'delete'

let faults = 0

/**
 * The database refuses that statement, as during a shutdown (57P03). Returns a function that undoes it; the end of the test
 * does too. Its `happened` resolves once so many statements were refused, by default one.
 */
export async function refuse(
  databaseUrl: string,
  statement: Statement,
  table: string,
): Promise<(() => Promise<void>) & { happened: (times?: number) => Promise<void> }> {
  const pool = sql(databaseUrl)
  // A sequence keeps its value when its transaction fails.
  const refused = `refused_${faults + 1}`
  await pool.query(`create sequence ${refused}`)
  const body = `perform nextval('${refused}'); raise exception 'the test refuses this' using errcode = '57P03'`
  const undo = await onEach(databaseUrl, statement, table, body)
  const happened = async (times = 1) => {
    await until(async () => (await pool.query(`select from ${refused} where is_called and last_value >= $1`, [times])).rowCount)
  }
  return Object.assign(undo, { happened })
}

/** Such a statement changes no row, as if another transaction had just deleted it. */
export async function lose(databaseUrl: string, statement: 'update' | 'delete', table: string): Promise<() => Promise<void>> {
  return await onEach(databaseUrl, statement, table, 'return null')
}

/**
 * Such a statement takes `byMs` longer for each row, in a single sleep: thousands of short sleeps would take arbitrarily long
 * on a busy machine.
 */
export async function slow(databaseUrl: string, statement: Statement, table: string, byMs: number): Promise<() => Promise<void>> {
  const rows = statement === 'delete' ? 'old' : 'new'
  const body = `perform pg_sleep(count(*) * ${byMs / 1_000}) from touched`
  return await onEach(
    databaseUrl,
    statement,
    table,
    body,
    `after ${statement} on ${table} referencing ${rows} table as touched for each statement`,
  )
}

export interface Held {
  /** Resolves when a statement waits. */
  waits: () => Promise<void>
  /** Lets that statement and all later ones continue. */
  release: () => Promise<void>
}

/** Every such statement waits until it is released. */
export async function hold(databaseUrl: string, statement: Statement, table: string): Promise<Held> {
  const key = 7_000 + faults
  const pool = sql(databaseUrl)
  const client: pg.PoolClient = await pool.connect()
  await client.query('select pg_advisory_lock($1)', [key])
  const undo = await onEach(databaseUrl, statement, table, `perform pg_advisory_xact_lock_shared(${key})`)
  let held = true
  const release = async () => {
    if (!held) return
    held = false
    await client.query('select pg_advisory_unlock($1)', [key])
    client.release()
    await undo()
  }
  atEnd('test', release)
  const waits = async () => {
    await until(async () => {
      // pg_locks covers every database of the server, and another test file may hold the same key in its own.
      const query = `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
        where l.locktype = 'advisory' and l.objid = $1 and not l.granted`
      return (await pool.query(query, [key])).rowCount
    })
  }
  return { waits, release }
}

/**
 * Runs `body` (PL/pgSQL) before each such statement changes a row, or at another `time`, until the returned function is called.
 */
async function onEach(
  databaseUrl: string,
  statement: Statement,
  table: string,
  body: string,
  time = `before ${statement} on ${table} for each row`,
): Promise<() => Promise<void>> {
  const name = `fault_${++faults}`
  const pool = sql(databaseUrl)
  await pool.query(
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body}; return coalesce(new, old); end $$`,
  )
  await pool.query(`create trigger ${name} ${time} execute function ${name}()`)
  const undo = async () => {
    await pool.query(`drop function if exists ${name} cascade`)
  }
  atEnd('test', undo)
  return undo
}
