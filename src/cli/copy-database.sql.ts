// SQL of `gateway copy-database`: what the catalogs say about the tables of the gateway and of its job queue, and how a target takes rows.
import type { Sql } from '../core/database/database.ts'

export interface CopiedTable {
  /** With its schema, quoted. */
  name: string
  /** Quoted, without those that the database computes. */
  columns: string[]
  /** Names and types of all columns. */
  shape: string[]
}

const schemas = `('public', 'pgboss')`
const kept = `not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')`
const named = `format('%I.%I', nspname, relname)`

/** Removes the time limits of the session, except 30 s for a lock. */
export async function setLimits(sql: Sql): Promise<void> {
  await sql.query(
    `select set_config(name, case name when 'lock_timeout' then '30s' else '0' end, false) from pg_settings
     where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
  )
}

/** Takes the advisory lock of a copy for the session; false if another session of the same database has it. */
export async function takeCopyLock(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ mine: boolean }>('select pg_try_advisory_lock(4617230004) as mine')
  return rows[0]?.mine ?? false
}

/** Tables and views by their names, those of extensions left out (catalog). */
export async function readRelations(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ name: string }>(
    `select ${named} as name from pg_class c join pg_namespace n on n.oid = relnamespace
     where nspname in ${schemas} and relkind in ('r', 'p', 'v', 'm', 'f') and not relispartition and ${kept} order by 1`,
  )
  return rows.map(({ name }) => name)
}

/** The tables, without the list of applied migrations (catalog). */
export async function readTables(sql: Sql): Promise<CopiedTable[]> {
  const columnsOf = (what: string, condition: string, order: string) =>
    `array(select ${what} from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped ${condition} order by ${order})`
  const { rows } = await sql.query<CopiedTable>(
    `select ${named} as name, ${columnsOf('quote_ident(attname)', `and attgenerated = ''`, 'attnum')} as columns,
       ${columnsOf(`attname || ' ' || format_type(atttypid, atttypmod)`, '', '1')} as shape
     from pg_class c join pg_namespace n on n.oid = relnamespace
     where nspname in ${schemas} and relkind in ('r', 'p') and not relispartition and relname <> '_prisma_migrations' and ${kept} order by 1`,
  )
  return rows
}

const listed = (tables: readonly CopiedTable[]) => tables.map(({ name }) => name).join(', ')

/** Begins a transaction that reads one state of these tables, which others can read and not write until it ends. */
export async function beginSnapshot(sql: Sql, tables: readonly CopiedTable[]): Promise<void> {
  await sql.query('begin isolation level repeatable read')
  await sql.query(`lock table ${listed(tables)} in share mode`)
}

/** Those of these relations that have a row, except the rows that every new database has. */
export async function readFilled(sql: Sql, names: readonly string[]): Promise<string[]> {
  const own = new Set(['public._prisma_migrations', 'public.event_sequence', 'pgboss.version'])
  const asked = names.filter((name) => !own.has(name))
  if (asked.length === 0) return []
  const { rows } = await sql.query<{ name: string }>(
    asked.map((name) => `select '${name.replaceAll("'", "''")}' as name where exists (select from ${name})`).join(' union all '),
  )
  return rows.map(({ name }) => name)
}

/** Begins a transaction that locks everybody else out of these tables until it ends. */
export async function beginAlone(sql: Sql, tables: readonly CopiedTable[]): Promise<void> {
  await sql.query('begin')
  await sql.query(`lock table ${listed(tables)} in access exclusive mode`)
}

export async function commit(sql: Sql): Promise<void> {
  await sql.query('commit')
}

export async function emptyTables(sql: Sql, tables: readonly CopiedTable[]): Promise<void> {
  await sql.query(`truncate ${listed(tables)}`)
}

export interface CopiedPartition {
  name: string
  parent: string
  /** `FOR VALUES …` or `DEFAULT`. */
  bound: string
}

export async function readCopiedPartitions(sql: Sql): Promise<CopiedPartition[]> {
  const { rows } = await sql.query<CopiedPartition>(
    `select ${named} as name, inhparent::regclass::text as parent, pg_get_expr(relpartbound, c.oid) as bound
     from pg_class c join pg_namespace n on n.oid = relnamespace join pg_inherits on inhrelid = c.oid
     where nspname in ${schemas} and relispartition and relkind = 'r' order by 1`,
  )
  return rows
}

/** Drops those partitions, and then adds the others. */
export async function replacePartitions(
  sql: Sql,
  { dropped, added }: Record<'dropped' | 'added', readonly CopiedPartition[]>,
): Promise<void> {
  for (const { name } of dropped) await sql.query(`drop table ${name}`)
  for (const { name, parent, bound } of added) await sql.query(`create table ${name} partition of ${parent} ${bound}`)
}

/**
 * Drops the foreign keys, and disables the triggers that fire for new rows: rows then come in any order, and are not counted a second time.
 * Returns what restores both. Adding a foreign key checks all rows by one query.
 */
export async function dropChecks(sql: Sql): Promise<() => Promise<void>> {
  const { rows: keys } = await sql.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition from pg_constraint
     where contype = 'f' and conparentid = 0 and connamespace in (select oid from pg_namespace where nspname in ${schemas}) order by 1, 2`,
  )
  const { rows: triggers } = await sql.query<{ table: string; name: string }>(
    `select tgrelid::regclass::text as table, quote_ident(tgname) as name from pg_trigger
     join pg_class c on c.oid = tgrelid join pg_namespace n on n.oid = relnamespace
     where nspname in ${schemas} and not tgisinternal and tgparentid = 0 and tgtype & 4 > 0 and tgenabled = 'O'`,
  )
  for (const { table, name } of keys) await sql.query(`alter table ${table} drop constraint ${name}`)
  for (const { table, name } of triggers) await sql.query(`alter table ${table} disable trigger ${name}`)
  return async () => {
    for (const { table, name, definition } of keys) await sql.query(`alter table ${table} add constraint ${name} ${definition}`)
    for (const { table, name } of triggers) await sql.query(`alter table ${table} enable trigger ${name}`)
  }
}

/** The two statements that copy a table. The columns are those of the target, in its order. */
export function copyTexts({ name, columns }: CopiedTable): { from: string; to: string } {
  const list = columns.join(', ')
  return { from: `copy (select ${list} from ${name}) to stdout`, to: `copy ${name} (${list}) from stdin` }
}

export async function countRows(sql: Sql, { name }: CopiedTable): Promise<number> {
  const { rows } = await sql.query<{ n: string }>(`select count(*) as n from ${name}`)
  return Number(rows[0]?.n)
}

/** Lets the sequences of the target continue where those of the source are. */
export async function copySequences(source: Sql, target: Sql): Promise<void> {
  const { rows } = await source.query<{ name: string; last: string }>(
    `select format('%I.%I', schemaname, sequencename) as name, last_value as last from pg_sequences
     where schemaname in ${schemas} and last_value is not null`,
  )
  for (const { name, last } of rows) await target.query('select setval($1, $2)', [name, last])
}

/** Collects statistics, which the planner would lack until the server does so itself. */
export async function analyzeTables(sql: Sql, tables: readonly CopiedTable[]): Promise<void> {
  await sql.query(`analyze ${listed(tables)}`)
}
