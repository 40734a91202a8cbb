// Tables whose statistics know other owners only, and the work that statements do on the rows of a new one.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { openDatabase, type Sql } from '../../src/core/database/database.ts'
import { atEnd } from './at-end.ts'
import { cloneDatabase } from './database.ts'

/** Statements that insert `n` rows of an owner, which is `$1`; `$2` is `n`. Foreign keys are not checked. */
type Fill = (isNew: boolean) => readonly string[]

export interface UnknownOwner {
  pool: pg.Pool
  owner: string
}

/** Rows of the new owner. */
export const many = 2_000

/**
 * Fills tables for other owners, analyzes them, and then fills them for a new one. The others are two that have `many` rows each, all of whom the
 * statistics list (`few`), or so many with one row each that the statistics take every owner for one of one row (`single`).
 */
export async function openUnknownOwner(others: 'few' | 'single', fill: Fill): Promise<UnknownOwner> {
  const url = await cloneDatabase()
  const database = openDatabase(url, () => {}, { max: 1 })
  atEnd('file', () => database[Symbol.asyncDispose]())
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('set session_replication_role = replica')
  const [count, rows] = others === 'few' ? [2, many] : [80, 1]
  const owner = randomUUID()
  const add = async (id: string, n: number, isNew: boolean) => {
    for (const text of fill(isNew)) await client.query(text, [id, n])
  }
  for (let i = 0; i < count; i++) await add(randomUUID(), rows, false)
  await client.query('analyze')
  await add(owner, many, true)
  await client.end()
  return { pool: database.pool, owner }
}

interface Plan {
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

/** The rows that the nodes of a plan returned or rejected, joins among them. */
function workOf({ Plans = [], ...plan }: Plan): number {
  const kinds = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Join Filter', 'Rows Removed by Index Recheck'] as const
  const rows = kinds.reduce((sum, kind) => sum + (plan[kind] ?? 0), 0)
  return Plans.reduce((sum, below) => sum + workOf(below), rows * plan['Actual Loops'])
}

/**
 * The work of the one statement that `run` makes, in a transaction that is rolled back: by the plan for its values, and if it is prepared also by the
 * plan for any values, whichever is more.
 */
export async function workOfStatement({ pool }: UnknownOwner, run: (tx: Sql) => Promise<unknown>): Promise<number> {
  let asked: pg.QueryConfig = { text: '' }
  const seeing = async (query: string | pg.QueryConfig, values?: unknown[]) => {
    asked = typeof query === 'string' ? { text: query, values: values ?? [] } : query
    return { rows: [], rowCount: 0 }
  }
  await run({ query: seeing } as unknown as Sql).catch(() => undefined)
  const { text, values = [], name } = asked
  let most = 0
  for (const mode of name ? ['force_custom_plan', 'force_generic_plan'] : ['force_custom_plan']) {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query(`set local plan_cache_mode = ${mode}`)
      await client.query('set local session_replication_role = replica')
      await client.query(`prepare examined as ${text}`)
      const list = values.map((value) => (value === null ? 'null' : pg.escapeLiteral(toText(value)))).join(', ')
      const { rows } = await client.query(`explain (analyze, timing off, format json) execute examined${list && `(${list})`}`)
      most = Math.max(most, workOf(rows[0]['QUERY PLAN'][0].Plan))
    } finally {
      client.release(true)
    }
  }
  return most
}

function toText(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value)
    ? `{${value.map((each) => (each === null ? 'null' : JSON.stringify(toText(each)))).join(',')}}`
    : String(value)
}
