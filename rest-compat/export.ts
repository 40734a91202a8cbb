// Routes that stream every record of a list as CSV: they run the list's operation page by page.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { DocumentNode, ExecutionResult } from 'graphql'
import { z } from 'zod'
import { fail } from '../src/core/errors.ts'
import type { Scope, Surface } from './route.ts'

export type Cell = string | number | boolean | null

/** A page of a list. */
interface Nodes {
  nodes: readonly (object | null)[]
  pageInfo: { endCursor?: string | null; hasNextPage: boolean }
}

/** The request and the page, from which the variables of an operation are made. */
interface ExportRequest<Query> {
  params: Record<string, string>
  query: Query
  page: { first: number; after: string | undefined }
}

export interface ExportRoute {
  method: 'GET'
  path: string
  summary: string
  description: string
  operationId: string
  surfaces: readonly Surface[]
  scope: Scope
  transfer: 'export'
  /** Name of the file, without its extension. */
  file: string
  /** The filters and the sort of the list, without its pages. */
  query: z.ZodObject
  list: {
    document: DocumentNode
    variables: (request: ExportRequest<never>) => Record<string, unknown>
    page: (data: never) => Nodes
  }
  /** Its fields are the columns: `a.b` for a nested field, and one for each key of a field that has keys of its own. */
  record: z.ZodObject
  /** The operation that lists the keys of such a field. */
  keys?: { document: DocumentNode; of: (data: never) => readonly string[] }
}

/** Defines an export: the list and the record of a GET route, without the parameters of its pages. */
export function exportOf<Data, Variables extends Record<string, unknown>, Query extends z.ZodObject>(
  options: Omit<ExportRoute, 'method' | 'surfaces' | 'scope' | 'transfer' | 'query' | 'list' | 'keys'> & {
    query: Query
    list: {
      document: TypedDocumentNode<Data, Variables>
      variables: (request: ExportRequest<Omit<z.output<Query>, 'limit' | 'cursor'>>) => NoInfer<Variables>
      page: (data: Data) => Nodes
    }
    keys?: ExportRoute['keys']
  },
): ExportRoute {
  const { limit: _, cursor: __, ...filters } = options.query.shape
  const query = z.object(filters)
  return {
    method: 'GET',
    scope: 'workspace',
    surfaces: ['public', 'console'],
    transfer: 'export',
    ...options,
    query,
  }
}

/** Titles of the columns of a record, and the path of each in it. `keys` are the keys of the field that has its own. */
export function columnsOf(record: z.ZodObject, keys: readonly string[]): { title: string; path: string[] }[] {
  return Object.entries(record.shape).flatMap(([name, schema]) => {
    const type = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional ? schema.unwrap() : schema
    if (type instanceof z.ZodRecord) return keys.map((key) => ({ title: `${name}.${key}`, path: [name, key] }))
    if (!(type instanceof z.ZodObject)) return [{ title: name, path: [name] }]
    return columnsOf(type, []).map(({ title, path }) => ({ title: `${name}.${title}`, path: [name, ...path] }))
  })
}

/** The cell of a value: a list is separated by commas. Only own properties count, because a key may be named `constructor`. */
function cellOf(node: object, path: readonly string[]): Cell {
  let value: unknown = node
  for (const name of path) value = value && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
  if (Array.isArray(value)) return value.join(',')
  return (value ?? null) as Cell
}

const pageSize = 100

export type Run = (document: DocumentNode, variables: Record<string, unknown>) => Promise<ExecutionResult>

/**
 * Reads the first page, and returns the titles with all pages.
 * @throws the error of the operation, before anything is sent.
 */
export async function readExport(
  { list, record, keys }: ExportRoute,
  { params, query }: { params: Record<string, string>; query: Record<string, unknown> },
  run: Run,
): Promise<{ titles: string[]; pages: AsyncIterable<Cell[][]> }> {
  const dataOf = async (document: DocumentNode, variables: Record<string, unknown>) => {
    const { data, errors } = await run(document, variables)
    if (errors?.[0]) throw errors[0]
    return (data ?? fail('INTERNAL_ERROR')) as never
  }
  const columns = columnsOf(record, keys ? keys.of(await dataOf(keys.document, {})) : [])
  const read = async (after?: string) =>
    list.page(await dataOf(list.document, list.variables({ params, query: query as never, page: { first: pageSize, after } })))
  const first = await read()
  async function* pages(): AsyncGenerator<Cell[][]> {
    for (let page = first; ; page = await read(page.pageInfo.endCursor ?? undefined)) {
      yield page.nodes.flatMap((node) => (node ? [columns.map(({ path }) => cellOf(node, path))] : []))
      if (!page.pageInfo.hasNextPage) return
    }
  }
  return { titles: columns.map(({ title }) => title), pages: pages() }
}
