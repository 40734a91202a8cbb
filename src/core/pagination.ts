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
  const binding = JSON.stringify(request.binding)
  const forwards = direction === 'asc' ? 'gt' : 'lt'
  const backwards = direction === 'asc' ? 'lt' : 'gt'
  const where = [
    ...(args.after != null ? [beyond(field, forwards, decode(args.after, binding, 'after'))] : []),
    ...(args.before != null ? [beyond(field, backwards, decode(args.before, binding, 'before'))] : []),
  ]
  const order = backward === (direction === 'asc') ? 'desc' : 'asc'
  const rows = await find({ where: { AND: where }, orderBy: [{ [field]: order }, { id: order }], take: size + 1 })
  const more = rows.length > size
  const page = rows.slice(0, size)
  if (backward) page.reverse()
  const edges = page.map((node) => ({ cursor: encode(binding, node[field], node.id), node }))
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

/** The list and the place in it, so that a cursor that was altered or taken elsewhere does not fit. */
function sealOf(binding: string, value: unknown, id: unknown): string {
  return createHash('sha256')
    .update(`${binding}\n${JSON.stringify([value, id])}`)
    .digest('base64url')
    .slice(0, 16)
}

function encode(binding: string, sorted: unknown, id: string): string {
  const value = sorted instanceof Date ? sorted.getTime() : sorted
  return Buffer.from(JSON.stringify([sealOf(binding, value, id), value, id])).toString('base64url')
}

function decode(cursor: string, binding: string, name: string): [Date | string, string] {
  const [seal, value, id] = positionOf(cursor) ?? []
  if (seal === undefined || value === undefined || id === undefined) fail('VALIDATION_ERROR', `${name}: is not a cursor`)
  if (seal !== sealOf(binding, value, id)) fail('VALIDATION_ERROR', `${name}: is not a cursor of this list, sort and filters`)
  return [typeof value === 'string' ? value : new Date(value), id]
}

function positionOf(cursor: string): z.output<typeof position> | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // The same bytes have other spellings, none of which was given out.
  if (cursor.length > 1024 || bytes.toString('base64url') !== cursor) return undefined
  try {
    return position.safeParse(JSON.parse(bytes.toString())).data
  } catch {
    return undefined
  }
}
