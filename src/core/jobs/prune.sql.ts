// SQL of retention: deletes expired rows in batches.
import type { Sql } from '../database/database.ts'

/** The expired rows of one table. Every text is SQL that the domain writes; `$1` is the batch size, `$2` the first of `values`. */
export interface ExpiredRows {
  table: string
  /** A unique column of a partitioned table, where `ctid` is not unique. */
  key?: string
  /** The condition that an expired row meets. */
  where: string
  values?: readonly unknown[]
  /** The order of deletion. */
  order?: string
  /** Leaves rows that another transaction has locked to the next run. Without it, the job waits for them. */
  skipLocked?: boolean
}

/**
 * Deletes at most `batch` expired rows and returns how many. The row lock makes PostgreSQL check the condition again on a row that
 * another transaction has just changed, so a renewed row is kept.
 */
export async function deleteBatch(sql: Sql, rows: ExpiredRows, batch: number): Promise<number> {
  const { table, key = 'ctid', where, values = [], order, skipLocked } = rows
  const { rowCount } = await sql.query(
    `delete from ${table} where ${key} = any(array(
       select ${key} from ${table} where ${where} ${order ? `order by ${order}` : ''} limit $1 for update ${skipLocked ? 'skip locked' : ''}))`,
    [batch, ...values],
  )
  return rowCount ?? 0
}
