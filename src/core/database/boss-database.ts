// Lets pg-boss write in a transaction of ours.
import type { InsertOptions } from 'pg-boss'
import type { Sql } from './database.ts'

/** Adapts a connection for pg-boss, so that jobs commit or roll back with the rows that they are about. */
export function bossDatabase(tx: Sql): NonNullable<InsertOptions['db']> {
  return { executeSql: (text, values) => tx.query(text, values as unknown[]) }
}
