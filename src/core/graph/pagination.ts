// Keyset pages: a cursor says where the last row stood, so rows that come and go are neither skipped nor repeated.
import { fail } from '../errors.ts'
import { decodePlace, encodePlace, type SortedBy } from './page-cursor.ts'

export interface PageArgs {
  first?: number | null
  last?: number | null
  after?: string | null
  before?: string | null
}

export interface PageRequest<Row> {
  args: PageArgs
  /** Everything that a cursor must not be used apart from: sort, filters, workspace. */
  binding: unknown
  /** The column that sorts, before `id`. */
  field: keyof Row & string
  /** What that column holds; a time unless it says otherwise. */
  sortedBy?: SortedBy
  direction: 'asc' | 'desc'
  /** Reads at most `take` rows under Prisma's `where` and `orderBy`, or by SQL from the same place. */
  find: (query: { where: object; orderBy: object[]; take: number }, place: Place) => Promise<Row[]>
}

/** Where a page lies: the order of its rows, and what they come after and before; see {@link keyset}. */
export interface Place {
  order: 'asc' | 'desc'
  bounds: readonly Bound[]
}

interface Bound {
  than: 'gt' | 'lt'
  value: Date | string
  id: string
}

export interface Page<Row> {
  edges: { cursor: string; node: Row }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

export const maxPageSize = 100
/** Reads one page forward (`first`, `after`) or backward (`last`, `before`). @throws VALIDATION_ERROR naming the argument. */
export async function readPage<Row extends { id: string }>(request: PageRequest<Row>): Promise<Page<Row>> {
  const { args, field, sortedBy = 'time', direction, find } = request
  const extent = extentOf(args)
  const binding = JSON.stringify(request.binding)
  const forwards = direction === 'asc' ? 'gt' : 'lt'
  const backwards = direction === 'asc' ? 'lt' : 'gt'
  const bounds: Bound[] = [
    ...(args.after != null ? [{ than: forwards, ...decodePlace(args.after, binding, sortedBy, 'after') } as const] : []),
    ...(args.before != null ? [{ than: backwards, ...decodePlace(args.before, binding, sortedBy, 'before') } as const] : []),
  ]
  const where = { AND: bounds.map((bound) => beyond(field, bound)) }
  const order = extent.backward === (direction === 'asc') ? 'desc' : 'asc'
  const rows = await find({ where, orderBy: [{ [field]: order }, { id: order }], take: extent.size + 1 }, { order, bounds })
  return pageOf(args, extent, rows, (row) => encodePlace(binding, row[field], row.id))
}

interface Extent {
  backward: boolean
  size: number
}

/** Which way a page goes and how long it is: of 20, unless its field declares another size. @throws VALIDATION_ERROR naming the argument. */
export function extentOf(args: PageArgs): Extent {
  if (args.first != null && args.last != null) fail('VALIDATION_ERROR', 'last: cannot be given together with first')
  const backward = args.last != null
  const size = args.first ?? args.last ?? 20
  if (size < 1 || size > maxPageSize) {
    fail('VALIDATION_ERROR', `${backward ? 'last' : 'first'}: must be between 1 and ${maxPageSize}`)
  }
  return { backward, size }
}

/** The page of rows that were read in its direction, one more of them than it has room for. */
export function pageOf<Row>(
  args: PageArgs,
  { backward, size }: Extent,
  rows: readonly Row[],
  cursorOf: (row: Row) => string,
): Page<Row> {
  const more = rows.length > size
  const page = rows.slice(0, size)
  if (backward) page.reverse()
  // Cursors are made when they are asked for: most readers want the last one only.
  const edges = page.map((node) => ({
    node,
    get cursor() {
      return cursorOf(node)
    },
  }))
  return {
    edges,
    pageInfo: {
      hasNextPage: backward ? Boolean(args.before) : more,
      hasPreviousPage: backward ? more : Boolean(args.after),
      get startCursor() {
        return edges[0]?.cursor ?? null
      },
      get endCursor() {
        return edges.at(-1)?.cursor ?? null
      },
    },
  }
}

/**
 * The bounds of a page as SQL conditions, their values added to `values`. Rows are compared as a whole, so that an index on
 * (…, column, id) begins at the place itself, however many rows share a value.
 */
export function keyset({ bounds }: Place, column: string, id: string, values: unknown[]): string[] {
  return bounds.map((bound) => {
    const n = values.push(bound.value, bound.id)
    return `(${column}, ${id}) ${bound.than === 'gt' ? '>' : '<'} ($${n - 1}, $${n})`
  })
}

/** Prisma cannot compare rows. That the value is not before the place follows from the rest, and is what an index begins at. */
function beyond(field: string, { than, value, id }: Bound): object {
  return { [field]: { [`${than}e`]: value }, OR: [{ [field]: { [than]: value } }, { id: { [than]: id } }] }
}
