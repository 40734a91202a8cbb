// What a REST row is: one route, one typed operation of the graph, how a request becomes its variables and its data an answer.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { z } from 'zod'
import type { ErrorCode } from '../src/core/errors.ts'

export type Surface = 'public' | 'console'
/** Who may come in: see the team rules of the interface specification. What is a person's own (`account`) is in no workspace. */
export type Scope = 'workspace' | 'personal' | 'open' | 'account'

export interface RouteRequest {
  params: Record<string, string>
  /** Parsed by the row's `query` schema. */
  query: Record<string, never>
  body: Record<string, unknown>
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below `/api/v1` and `/api`, with `:name` for parameters. */
  path: string
  summary: string
  /** What the document calls it; the name of the graph's field, unless two rows have that one. */
  operationId?: string
  /** What it can fail with beyond what the graph's field names and every such route has. */
  errors?: readonly ErrorCode[]
  surfaces: readonly Surface[]
  scope: Scope
  /** The parameter of the path that names the team it is about, in place of the header. */
  ofTeam?: string
  status: number
  document: TypedDocumentNode<unknown, Record<string, unknown>>
  /** The graph's input that the body is, whose rules decide what is wrong with it. */
  input?: string
  /** Whether the body may be left out altogether. */
  optionalBody?: boolean
  query?: z.ZodObject
  /** Bytes; 1 MiB where it is left out. */
  bodyLimit?: number
  /** How many values the JSON of a body may hold; `ordinary` where it is left out. */
  values?: 'bulk' | 'campaign'
  /** What the graph calls an argument that REST calls otherwise, so that a refusal names what the caller wrote. */
  renames?: Record<string, string>
  variables: (request: RouteRequest) => Record<string, unknown>
  project: (data: never, query: never) => unknown
  answer: z.ZodType
  accepted?: Accepted<never>
}

/** What a route answers with 202 where what was asked for goes on in the background. */
interface Accepted<Data> {
  when: (data: Data) => boolean
  answer: z.ZodType
}

interface RowOptions<Data, Variables, Query extends z.ZodObject> {
  summary: string
  document: TypedDocumentNode<Data, Variables>
  variables: (request: {
    params: Record<string, string>
    query: z.output<Query>
    body: Record<string, unknown>
  }) => NoInfer<Variables>
  project: (data: Data, query: z.output<Query>) => unknown
  answer: z.ZodType
  accepted?: Accepted<Data>
  query?: Query
  operationId?: string
  errors?: readonly ErrorCode[]
  status?: number
  scope?: Scope
  ofTeam?: string
  surfaces?: readonly Surface[]
  input?: string
  optionalBody?: boolean
  bodyLimit?: number
  /** How many values the JSON of a body may hold; `ordinary` where it is left out. */
  values?: 'bulk' | 'campaign'
  renames?: Record<string, string>
}

/** One row of a table: for both surfaces and every key of a workspace, answering 200, unless it says otherwise. */
export function row<Data, Variables, Query extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  method: Route['method'],
  path: string,
  options: RowOptions<Data, Variables, Query>,
): Route {
  return { method, path, status: 200, scope: 'workspace', surfaces: ['public', 'console'], ...options } as unknown as Route
}

/** A route that exists only to say that no plan has it: every caller with a key hears so, before the body is looked at. */
export interface RefusedRoute {
  method: Route['method']
  path: string
  summary: string
  operationId: string
  surfaces: readonly Surface[]
  scope: Scope
  refuse: ErrorCode
}

/** A route whose body or answer is a file: a door of the gateway's own answers it, once the caller is let in. */
export interface FileRoute {
  method: 'GET' | 'POST'
  path: string
  summary: string
  description: string
  operationId: string
  errors: readonly ErrorCode[]
  surfaces: readonly Surface[]
  scope: Scope
  transfer: 'upload' | 'download'
  status: number
  /** Left out where the answer is the file. */
  answer?: z.ZodType
}

/** The variables of a row about the one thing that its path names. */
export function byId({ params }: { params: Record<string, string> }): { id: string } {
  return { id: params.id as string }
}

/** The query of a list that pages. */
export function listQuery(defaultSize: number) {
  const fault = 'must be a whole number from 1 to 100'
  return {
    limit: z
      .string()
      .regex(/^\d{1,4}$/, fault)
      .transform(Number)
      .refine((value) => value >= 1 && value <= 100, fault)
      .default(defaultSize)
      // In an address it is text; what it says is a number.
      .meta({ description: 'How many on one page.', type: 'integer', minimum: 1, maximum: 100, pattern: undefined }),
    cursor: z
      .string({ error: 'must be given once' })
      .max(2048, 'is not a cursor of this list')
      .optional()
      .describe('`nextCursor` of the page before.'),
  }
}

/** How the graph's page arguments are called in REST. */
export const pageNames = { first: 'limit', after: 'cursor' }

interface Connection<Node> {
  nodes: (Node | null)[]
  pageInfo: { endCursor?: string | null; hasNextPage: boolean }
}

/** A page as REST has it: the items under their own name, and where the next page begins. */
export function pageOf<Name extends string, Node>(name: Name, connection: Connection<Node>) {
  const { hasNextPage: hasMore, endCursor } = connection.pageInfo
  return { [name]: connection.nodes, nextCursor: hasMore ? (endCursor ?? null) : null, hasMore }
}

export function pageAnswer<Item extends z.ZodType>(name: string, item: Item) {
  return z.object({
    [name]: z.array(item).describe('The items of this page.'),
    nextCursor: z.string().nullable().describe('The `cursor` of the next page; null on the last.'),
    hasMore: z.boolean().describe('Whether another page follows.'),
  })
}

export const deletedAnswer = z.object({ id: z.uuid(), deleted: z.literal(true) })
