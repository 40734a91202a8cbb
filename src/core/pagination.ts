// Keyset pages: a cursor says where the last row stood, so rows that come and go are neither skipped nor repeated.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { fail } from './errors.ts'

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
  direction: 'asc' | 'desc'
  defaultSize?: number
  /** Reads at most `take` rows under Prisma's `where` and `orderBy`. */
  find: (query: { where: object; orderBy: object[]; take: number }) => Promise<Row[]>
}

export interface Page<Row> {
  edges: { cursor: string; node: Row }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

export const maxPageSize = 100

const position = z.tuple([z.string(), z.union([z.string(), z.number()]), z.guid()])

/** Reads one page forward (`first`, `after`) or backward (`last`, `before`). @throws VALIDATION_ERROR naming the argument. */
export async function readPage<Row extends { id: string }>(request: PageRequest<Row>): Promise<Page<Row>> {
  const { args, field, direction, find } = request
  if (args.first != null && args.last != null) fail('VALIDATION_ERROR', 'last: cannot be given together with first')
  const backward = args.last != null
  const size = checkSize(backward ? 'last' : 'first', args.first ?? args.last ?? request.defaultSize ?? 20)
  const seal = createHash('sha256').update(JSON.stringify(request.binding)).digest('base64url').slice(0, 11)
  const forwards = direction === 'asc' ? 'gt' : 'lt'
  const backwards = direction === 'asc' ? 'lt' : 'gt'
  const where = [
    ...(args.after ? [beyond(field, forwards, decode(args.after, seal, 'after'))] : []),
    ...(args.before ? [beyond(field, backwards, decode(args.before, seal, 'before'))] : []),
  ]
  const order = backward === (direction === 'asc') ? 'desc' : 'asc'
  const rows = await find({ where: { AND: where }, orderBy: [{ [field]: order }, { id: order }], take: size + 1 })
  const more = rows.length > size
  const page = rows.slice(0, size)
  if (backward) page.reverse()
  const edges = page.map((node) => ({ cursor: encode(seal, node[field], node.id), node }))
  return {
    edges,
    pageInfo: {
      hasNextPage: backward ? Boolean(args.before) : more,
      hasPreviousPage: backward ? more : Boolean(args.after),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}

/** @throws VALIDATION_ERROR unless 1 to {@link maxPageSize}. */
export function checkSize(name: string, size: number): number {
  if (size < 1 || size > maxPageSize) fail('VALIDATION_ERROR', `${name}: must be between 1 and ${maxPageSize}`)
  return size
}

function beyond(field: string, than: 'gt' | 'lt', [value, id]: [unknown, string]): object {
  return { OR: [{ [field]: { [than]: value } }, { [field]: value, id: { [than]: id } }] }
}

function encode(seal: string, value: unknown, id: string): string {
  return Buffer.from(JSON.stringify([seal, value instanceof Date ? value.getTime() : value, id])).toString('base64url')
}

function decode(cursor: string, seal: string, name: string): [Date | string, string] {
  let parsed: unknown
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    parsed = null
  }
  const result = position.safeParse(parsed)
  if (!result.success || cursor.length > 1024) fail('VALIDATION_ERROR', `${name}: is not a cursor of this list`)
  const [madeFor, value, id] = result.data
  if (madeFor !== seal) fail('VALIDATION_ERROR', `${name}: belongs to another sort or other filters`)
  if (typeof value === 'string') return [value, id]
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) fail('VALIDATION_ERROR', `${name}: is not a cursor of this list`)
  return [date, id]
}
