// Lists of rows: a connection over the rows of one table reads its page here. One statement reads exactly the columns and to-one relations that
// the selection needs, from the position of a cursor (keyset pagination). Lists below other lists share one statement (batching).
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../context.ts'
import { type Condition, readRows, readRowsOf, type Subset, type Within } from './list.sql.ts'
import { load } from './load.ts'
import { type Page, type PageArgs, readPage } from './pagination.ts'
import { selectionOf } from './selection.ts'
import type { Table } from './table.ts'

export interface List {
  table: Table
  /** The column that holds the id of the parent, and that id. The parent is the workspace in lists of the query type. */
  of: readonly [column: string, id: string]
  conditions?: readonly Condition[]
  /** Condition of a partial index, which follows from the conditions; see `ListQuery.partial`. */
  partial?: string | undefined
  within?: Within | undefined
  /** Only in lists of the query type. */
  subset?: Subset | undefined
  /** A cursor is valid only for a list with the same binding, so it names the parent, the filters and the order. */
  binding: unknown
  /** Column to sort by; `createdAt` by default. */
  field?: string
  direction?: 'asc' | 'desc'
  /** False if no index returns the rows in page order, so that the statement may read many rows. */
  isShort?: boolean
}

/** Reads one page. @throws VALIDATION_ERROR when a page argument is invalid; the message names it. */
export async function readList<Row extends { id: string }>(
  ctx: Context,
  info: GraphQLResolveInfo,
  args: PageArgs,
  {
    table,
    of: [parent, id],
    conditions = [],
    partial,
    within,
    subset,
    binding,
    field = 'createdAt',
    direction = 'desc',
    isShort = true,
  }: List,
): Promise<Page<Row>> {
  const isRoot = info.parentType === info.schema.getQueryType()
  const selection = selectionOf(info, table, isRoot ? ['id', field] : ['id', parent, field])
  return await readPage<Row>({
    args,
    binding,
    field: field as keyof Row & string,
    direction,
    find: (take, place) => {
      const query = { table, selection, parent, conditions, partial, within, subset, field, place, take, isShort }
      if (isRoot) return readRows<Row>(ctx.app, query, id)
      const name = `${table.name} ${JSON.stringify({ ...query, table: undefined })}`
      return load(ctx, name, id, (ids) => readRowsOf<Row>(ctx.app, query, ids))
    },
  })
}
