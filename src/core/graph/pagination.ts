// Keyset pagination: a cursor holds the position of the last row, so that inserts and deletes cause no skipped or repeated rows.
import { fail } from '../errors.ts'
import { decodeCursor, encodeCursor, type SortedBy } from './page-cursor.ts'

export interface PageArgs {
  first?: number | null
  last?: number | null
  after?: string | null
  before?: string | null
}

export interface PageRequest<Row> {
  args: PageArgs
  /** Everything that a cursor is bound to: sort, filters, workspace. */
  binding: unknown
  /** Column to sort by; `id` breaks ties. */
  field: keyof Row & string
  /** Type of that column; `time` by default. */
  sortedBy?: SortedBy
  direction: 'asc' | 'desc'
  /** Reads at most `take` rows from the position `place`. */
  find: (take: number, place: Place) => Promise<Row[]>
}

/** Position of a page: the order of its rows, and the rows that they come after and before; see {@link keyset}. */
export interface Place {
  order: 'asc' | 'desc'
  bounds: readonly Bound[]
}

interface Bound {
  than: 'gt' | 'lt'
  value: Date | string | number
  id: string
}

export interface Page<Row> {
  edges: { cursor: string; node: Row }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

export const maxPageSize = 100

/**
 * Reads one page forward (`first`, `after`) or backward (`last`, `before`). @throws VALIDATION_ERROR when an argument is invalid;
 * names it.
 */
export async function readPage<Row extends { id: string }>(request: PageRequest<Row>): Promise<Page<Row>> {
  const { args, field, sortedBy = 'time', direction, find } = request
  const extent = extentOf(args)
  const binding = JSON.stringify(request.binding)
  const forwards = direction === 'asc' ? 'gt' : 'lt'
  const backwards = direction === 'asc' ? 'lt' : 'gt'
  const bounds: Bound[] = [
    ...(args.after != null ? [{ than: forwards, ...decodeCursor(args.after, binding, sortedBy, 'after') } as const] : []),
    ...(args.before != null ? [{ than: backwards, ...decodeCursor(args.before, binding, sortedBy, 'before') } as const] : []),
  ]
  const order = extent.backward === (direction === 'asc') ? 'desc' : 'asc'
  const rows = await find(extent.size + 1, { order, bounds })
  return pageOf(args, extent, rows, (row) => encodeCursor(binding, row[field], row.id))
}

interface Extent {
  backward: boolean
  size: number
}

/**
 * Returns direction and size of a page: 20, unless its field declares another size. @throws VALIDATION_ERROR when an argument is
 * invalid; names it.
 */
export function extentOf(args: PageArgs): Extent {
  if (args.first != null && args.last != null) fail('VALIDATION_ERROR', 'last: cannot be given together with first')
  const backward = args.last != null
  const size = args.first ?? args.last ?? 20
  if (size < 1 || size > maxPageSize) {
    fail('VALIDATION_ERROR', `${backward ? 'last' : 'first'}: must be between 1 and ${maxPageSize}`)
  }
  return { backward, size }
}

/** Builds a page from rows that were read in its direction, with one row more than it holds if others follow. */
export function pageOf<Row>(
  args: PageArgs,
  { backward, size }: Extent,
  rows: readonly Row[],
  cursorOf: (row: Row) => string,
): Page<Row> {
  const more = rows.length > size
  const page = rows.slice(0, size)
  if (backward) page.reverse()
  const edges = page.map((node) => new Edge(node, cursorOf))
  return {
    edges,
    pageInfo: new PageInfo(edges, backward ? Boolean(args.before) : more, backward ? more : Boolean(args.after)),
  }
}

/**
 * Encodes its cursor on demand, because most clients read only the last one. A class, because the getters of an object literal are
 * held by its hidden class, which V8 frees by a major collection only, and the page with them.
 */
class Edge<Row> {
  readonly node: Row
  readonly #cursorOf: (row: Row) => string

  constructor(node: Row, cursorOf: (row: Row) => string) {
    this.node = node
    this.#cursorOf = cursorOf
  }

  get cursor(): string {
    return this.#cursorOf(this.node)
  }
}

class PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly #edges: readonly { cursor: string }[]

  constructor(edges: readonly { cursor: string }[], hasNextPage: boolean, hasPreviousPage: boolean) {
    this.hasNextPage = hasNextPage
    this.hasPreviousPage = hasPreviousPage
    this.#edges = edges
  }

  get startCursor(): string | null {
    return this.#edges[0]?.cursor ?? null
  }

  get endCursor(): string | null {
    return this.#edges.at(-1)?.cursor ?? null
  }
}

/**
 * Returns the bounds of a page as SQL conditions, and adds their values to `values`. Row comparison lets an index on (…, column,
 * id) start at the exact position, even if many rows share a value.
 */
export function keyset({ bounds }: Place, column: string, id: string, values: unknown[]): string[] {
  return bounds.map((bound) => {
    const n = values.push(bound.value, bound.id)
    return `(${column}, ${id}) ${bound.than === 'gt' ? '>' : '<'} ($${n - 1}, $${n})`
  })
}
