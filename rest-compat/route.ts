// Types and helpers of REST route definitions: each maps a request to a GraphQL operation, and its data to an answer.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { z } from 'zod'
import { type ErrorCode, fail } from '../src/core/errors.ts'

export type Surface = 'public' | 'console'
/**
 * The data that a route is about. `workspace`: that of one workspace. `personal`: the account that pays, and its person. `open`: the same for
 * every caller. `account`: a person's own data, which is in no workspace.
 */
export type Scope = 'workspace' | 'personal' | 'open' | 'account'

export interface RouteRequest {
  params: Record<string, string>
  /** Parsed by the route's `query` schema. */
  query: Record<string, never>
  body: Record<string, unknown>
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path below `/api/v1` and `/api`, with `:name` for parameters. */
  path: string
  summary: string
  /** The operation id in the OpenAPI document. Default: the name of the GraphQL field. Required if another route has the same field. */
  operationId?: string
  /** Error codes beyond those that the GraphQL field lists and those of all such routes. */
  errors?: readonly ErrorCode[]
  surfaces: readonly Surface[]
  scope: Scope
  /** Path parameter that names the team. It replaces the team header. */
  ofTeam?: string
  status: number
  document: TypedDocumentNode<unknown, Record<string, unknown>>
  /** Name of the GraphQL input that validates the body. */
  input?: string
  /** True if the request may have no body. */
  optionalBody?: boolean
  query?: z.ZodObject
  /** Query parameters that may not be empty. For all others, an empty value counts as left out. */
  keepsEmpty?: readonly string[]
  /** In bytes. Default: 1 MiB. */
  bodyLimit?: number
  /** Limit of JSON values in the body. Default: `ordinary`. */
  values?: 'bulk' | 'campaign'
  /** REST names by the GraphQL argument that they stand for, so that a validation error names the field that the caller wrote. */
  renames?: Record<string, string>
  variables: (request: RouteRequest) => Record<string, unknown>
  project: (data: never, query: never) => unknown
  answer: z.ZodType
  otherAnswer?: OtherAnswer<never>
}

/** Another answer of a route, by default the 202 of one that may continue in the background. */
interface OtherAnswer<Data> {
  when: (data: Data) => boolean
  answer: z.ZodType
  status?: 200 | 202
  /** In the OpenAPI document; required for another status than 202. */
  description?: string
}

type Typed = 'document' | 'query' | 'variables' | 'project' | 'otherAnswer'

/** A {@link Route} whose operation and query type its functions. */
interface RowOptions<Data, Variables, Query extends z.ZodObject>
  extends Omit<Route, 'method' | 'path' | keyof typeof defaults | Typed>,
    Partial<Pick<Route, keyof typeof defaults>> {
  document: TypedDocumentNode<Data, Variables>
  query?: Query
  variables: (request: {
    params: Record<string, string>
    query: z.output<Query>
    body: Record<string, unknown>
  }) => NoInfer<Variables>
  project: (data: Data, query: z.output<Query>) => unknown
  otherAnswer?: OtherAnswer<Data>
}

/** For routes of the console that use no workspace: about a person's own data, or a team that the path names. */
export const ofPeople = { surfaces: ['console'], scope: 'account' } as const

const defaults = { status: 200, scope: 'workspace', surfaces: ['public', 'console'] } as const

/** Defines a route. Defaults: both surfaces, scope `workspace`, status 200. */
export function row<Data, Variables, Query extends z.ZodObject = z.ZodObject<Record<never, never>>>(
  method: Route['method'],
  path: string,
  options: RowOptions<Data, Variables, Query>,
): Route
export function row(
  method: Route['method'],
  path: string,
  options: Omit<Route, keyof typeof defaults | 'method' | 'path'>,
): Route {
  return { method, path, ...defaults, ...options }
}

/** A route that no plan includes. Every authenticated caller gets its error, before the body is read. */
export interface RefusedRoute {
  method: Route['method']
  path: string
  summary: string
  operationId: string
  surfaces: readonly Surface[]
  scope: Scope
  refuse: ErrorCode
}

/** A route that receives or sends a file. A handler of the gateway answers it after authentication. */
export interface FileRoute {
  method: 'GET' | 'POST'
  path: string
  summary: string
  description: string
  operationId: string
  errors: readonly ErrorCode[]
  surfaces: readonly Surface[]
  scope: Scope
  /** Name of the handler. */
  transfer: 'upload' | 'download' | 'importContacts' | 'importSuppressions'
  status: number
  /** Name of the input that has the other fields of the form. */
  form?: string
  /** Left out if the answer is the file itself. */
  answer?: z.ZodType
}

/** A record that an operation looked up. It is present: the error of a missing one has been answered before. */
export function found<Record>(record: Record | null | undefined): Record {
  return record ?? fail('NOT_FOUND')
}

/** Variables of a route whose path names one record. */
export function byId({ params }: { params: Record<string, string> }): { id: string } {
  return { id: params.id as string }
}

/** Variables of a route whose body is the input of its operation, which the graph validates. */
export function bodyAsInput({ body }: Pick<RouteRequest, 'body'>): { input: never } {
  return { input: body as never }
}

/** {@link byId}, and the body as {@link bodyAsInput}. */
export function byIdWithInput(request: Pick<RouteRequest, 'params' | 'body'>): { id: string; input: never } {
  return { ...byId(request), ...bodyAsInput(request) }
}

/** A parameter of a query string. One that is given twice arrives as a list. */
export const once = z.string({ error: ({ input }) => (input === undefined ? 'is required' : 'must be given once') })

/** Query parameters of a paginated list. */
export function listQuery(defaultSize: number) {
  const fault = 'must be a whole number from 1 to 100'
  return {
    limit: once
      .regex(/^\d{1,4}$/, fault)
      .transform(Number)
      .refine((value) => value >= 1 && value <= 100, fault)
      .default(defaultSize)
      // The query string holds text, but the OpenAPI document describes a number.
      .meta({ description: 'The size of a page.', type: 'integer', minimum: 1, maximum: 100, pattern: undefined }),
    cursor: once.max(2048, 'is not a cursor of this list').optional().describe('`nextCursor` of the previous page.'),
  }
}

/** Variables of a list without parameters other than those of {@link listQuery}. */
export function byPage({ query }: { query: { limit: number; cursor?: string | undefined } }) {
  return { first: query.limit, after: query.cursor }
}

/** REST names of the GraphQL pagination arguments. */
export const pageNames = { first: 'limit', after: 'cursor' }

interface Connection<Node> {
  nodes: (Node | null)[]
  pageInfo: { endCursor?: string | null; hasNextPage: boolean }
}

/** A page in REST format: the items under `name`, and the cursor of the next page. */
export function pageOf<Name extends string, Node>(name: Name, connection: Connection<Node>) {
  const { hasNextPage: hasMore, endCursor } = connection.pageInfo
  return { [name]: connection.nodes, nextCursor: hasMore ? (endCursor ?? null) : null, hasMore }
}

export function pageAnswer<Item extends z.ZodType>(name: string, item: Item) {
  return z.object({
    [name]: z.array(item).describe('The items of this page.'),
    nextCursor: z.string().nullable().describe('The cursor of the next page; null on the last page.'),
    hasMore: z.boolean().describe('True if there is another page.'),
  })
}

export const deletedAnswer = z.object({ id: z.uuid(), deleted: z.literal(true) })
