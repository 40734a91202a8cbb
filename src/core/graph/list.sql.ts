// SQL of lists: one page for each parent, with the columns and to-one relations of a selection, in one statement.
import { createHash } from 'node:crypto'
import type { App } from '../app.ts'
import { joined } from './joined-rows.ts'
import { keyset, type Place } from './pagination.ts'
import type { Selection } from './selection.ts'
import type { Table } from './table.ts'

export type Condition =
  | readonly [column: string, operator: '=' | '>=' | '<', value: string | Date]
  /** A row whose column is null fits neither. */
  | readonly [column: string, operator: 'in' | 'not in', values: readonly string[]]
  /** The column holds the text, in any case. */
  | readonly [column: string, operator: 'contains', text: string]

/**
 * The table of the parent and the workspace that the parent must belong to. A condition on the workspace of the rows would say the same. But the
 * planner would then combine the index of the parent with that of the workspace, and read all rows of a large workspace for a small parent.
 */
export interface Within {
  table: string
  workspaceId: string
}

/**
 * Partial indexes that hold all rows which can fit the conditions, but begin with the id of another table, whose rows belong to the parent.
 * Example: the open messages of a workspace are in indexes by instance. The page of each row of the other table is read, and the pages merged.
 */
export interface Subset {
  /** The other table. It has the column of the parent, or is the table of the parent. */
  of: string
  /** The column that refers to it. */
  column: string
  /** The conditions of the indexes, as SQL over the alias `t`. A row fits one of them at most. */
  parts: readonly string[]
  /** True if each index returns its rows in page order. */
  isOrdered?: boolean
}

export interface ListQuery {
  table: Table
  /** Holds the sort column and `id`, and the parent's column for {@link readRowsOf}. */
  selection: Selection
  /** Column that holds the id of the parent. */
  parent: string
  conditions: readonly Condition[]
  /**
   * Condition of a partial index, as SQL over the alias `t`. The conditions imply it, but the planner cannot see that, because their values
   * are parameters.
   */
  partial?: string | undefined
  within?: Within | undefined
  subset?: Subset | undefined
  /** Column to sort by; `id` breaks ties. */
  field: string
  place: Place
  /** Part of the SQL text: with a parameter, PostgreSQL would plan the statement again each time, at three times its cost. */
  take: number
  /** True if an index returns the rows in page order, so the statement reads one page only. */
  isShort: boolean
}

/** The number of rows in page order that are read before those of a {@link Subset} whose indexes have another order. */
const windowSize = 1_000

/** With `window`, only so many rows in page order are compared with the conditions. */
type WindowedQuery = ListQuery & { window?: number }

/** Reads the page of one parent, by a prepared statement. Several short ones of a moment share a round trip. */
export async function readRows<Row>(app: Reader, query: WindowedQuery, parentId: string): Promise<Row[]> {
  const { subset, take } = query
  if (subset && !subset.isOrdered) {
    // If many rows match the conditions, the window contains a full page of them.
    const near = await readRows<Row>(app, { ...query, subset: undefined, window: windowSize }, parentId)
    if (near.length === take) return near
  }
  const values: unknown[] = [parentId]
  const text = pageSql(query, '$1', values)
  const config = { name: nameOf(text), text, values, rowMode: 'array' as const }
  const rows = query.isShort ? await app.batchedRead(config) : (await app.pool.query<unknown[]>(config)).rows
  return rows.map((cells) => shape(query.selection, cells) as Row)
}

/** Reads the pages of many parents, in their order. A VALUES list lets PostgreSQL plan with the statistics of a single parent. */
export async function readRowsOf<Row>(
  { pool }: Pick<App, 'pool'>,
  query: ListQuery,
  parentIds: readonly string[],
): Promise<Row[][]> {
  const { columns } = query.selection
  const values: unknown[] = [...parentIds]
  const parents = parentIds.map((_, i) => `($${i + 1}::uuid)`).join(', ')
  const { order } = query.place
  const text = `select r.* from (values ${parents}) as p(id) cross join lateral (${pageSql(query, 'p.id', values)}) r
    order by r.c${columns.indexOf(query.field)} ${order}, r.c${columns.indexOf('id')} ${order}`
  const { rows } = await pool.query<unknown[]>({ text, values, rowMode: 'array' as const })
  const byParent = Map.groupBy(rows, (cells) => cells[columns.indexOf(query.parent)])
  return parentIds.map((id) => (byParent.get(id) ?? []).map((cells) => shape(query.selection, cells) as Row))
}

/** The number of all rows of a list. */
export async function countRows(
  { pool }: Pick<App, 'pool'>,
  { table, of: [parent, id], conditions = [], partial, within, subset }: Counted,
): Promise<number> {
  const values: unknown[] = [id]
  const owned = [`t."${parent}" = $1`, ...withinSql(within, '$1', values)]
  const match = matchSql({ conditions, partial }, values)
  const from = subset ? subsetSql(table, subset, { parent, id: '$1', where: match, page: 'offset 0' }) : table.name
  const where = [...owned, ...(subset ? [] : match)].join(' and ')
  const { rows } = await pool.query<{ n: number }>(`select count(*)::int as n from ${from} t where ${where}`, values)
  return rows[0]?.n ?? 0
}

export interface Counted {
  table: Table
  of: readonly [column: string, id: string]
  conditions?: readonly Condition[]
  partial?: string | undefined
  within?: Within | undefined
  subset?: Subset | undefined
}

type Reader = Pick<App, 'pool' | 'batchedRead'>

function pageSql(query: WindowedQuery, id: string, values: unknown[]): string {
  const { table, selection } = query
  const joins = Object.keys(selection.relations).map((name, i) => ({ name, alias: `r${i}`, ...joinOf(table, name) }))
  const columns = [
    ...selection.columns.map((column) => `t."${column}"`),
    ...joins.flatMap(({ name, alias }) => selection.relations[name]?.columns.map((column) => `${alias}."${column}"`) ?? []),
  ]
  const { from, where, page } = sourceSql(query, id, values)
  return `select ${columns.map((column, i) => `${column} as c${i}`).join(', ')} from ${from} t
    ${joins.map(({ alias, key, table: { name } }) => `left join ${name} ${alias} on ${alias}.id = t."${key}"`).join(' ')}
    where ${where.join(' and ')} ${page}`
}

/** The rows of a page: where they are read, what they must fulfil there, and the order and size of the page. */
function sourceSql(query: WindowedQuery, id: string, values: unknown[]): { from: string; where: string[]; page: string } {
  const { table, parent, field, place, take, within, subset, window } = query
  const owned = [`t."${parent}" = ${id}`, ...withinSql(within, id, values)]
  const match = matchSql(query, values)
  const here = keyset(place, `t."${field}"`, 't.id', values)
  const order = `order by t."${field}" ${place.order}, t.id ${place.order}`
  const page = `${order} limit ${take}`
  if (subset) {
    return { from: subsetSql(table, subset, { parent, id, where: [...match, ...here], page }), where: owned, page }
  }
  if (window) {
    const from = `(select * from ${table.name} t where ${[...owned, ...here].join(' and ')} ${order} limit ${window})`
    return { from, where: [...owned, ...match], page }
  }
  return { from: table.name, where: [...owned, ...match, ...here], page }
}

/** `page` keeps the planner from joining in another way, which reads the whole index for each row of the other table. */
function subsetSql(
  table: Table,
  { of, column, parts }: Subset,
  { parent, id, where, page }: { parent: string; id: string; where: readonly string[]; page: string },
): string {
  const reads = parts.map(
    (part) => `(select * from ${table.name} t where ${[`t."${column}" = o.id`, part, ...where].join(' and ')} ${page})`,
  )
  return `(select m.* from ${of} o cross join lateral (${reads.join(' union all ')}) m
    where o."${parent === column ? 'id' : parent}" = ${id})`
}

/** Evaluated once for each parent, before any row is read. */
function withinSql(within: Within | undefined, id: string, values: unknown[]): string[] {
  if (!within) return []
  return [`(select o."workspaceId" from ${within.table} o where o.id = ${id}) = $${values.push(within.workspaceId)}`]
}

function matchSql({ conditions, partial }: Pick<ListQuery, 'conditions' | 'partial'>, values: unknown[]): string[] {
  return [...conditions.map((condition) => conditionSql(condition, values)), ...(partial ? [partial] : [])]
}

/** The text as a part of a pattern of LIKE, which would read `%`, `_` and a backslash in another way. */
export function literalInLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

function conditionSql([column, operator, value]: Condition, values: unknown[]): string {
  if (operator === 'contains') return `t."${column}" ilike $${values.push(`%${literalInLike(value)}%`)}`
  const n = values.push(value)
  if (operator === 'in') return `t."${column}" = any($${n})`
  return operator === 'not in' ? `t."${column}" <> all($${n})` : `t."${column}" ${operator} $${n}`
}

function joinOf(table: Table, name: string): { table: Table; key: string } {
  return table.relations[name] as { table: Table; key: string }
}

/** A row in the shape that Prisma returns. */
function shape(selection: Selection, cells: readonly unknown[]): object {
  const row: Record<string | symbol, unknown> = { [joined]: true }
  let at = 0
  for (const column of selection.columns) row[column] = cells[at++]
  for (const name in selection.relations) {
    const related: Record<string, unknown> = {}
    for (const column of (selection.relations[name] as Selection).columns) related[column] = cells[at++]
    row[name] = related.id === null ? null : related
  }
  return row
}

/** Most statements that a process prepares on a connection; further ones are planned each time. */
const maxPrepared = 200
const prepared = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = prepared.get(text)
  if (known || prepared.size >= maxPrepared) return known
  const name = `list.${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`
  prepared.set(text, name)
  return name
}
