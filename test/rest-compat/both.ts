// Helpers that send one request to both APIs: to a REST route, and to the GraphQL operation behind it.
import { print } from 'graphql'
import type { Route } from '../../rest-compat/route.ts'
import { routes } from '../../rest-compat/routes.ts'
import type { Answer, Api } from '../kit/api.ts'

/** The parameters of one request. */
export interface Asked {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
}

/** The result of a request in a form common to REST and GraphQL. */
export interface Decision {
  /** Null when the request succeeded. */
  code: string | null
  message: string | null
  /** The `data` of the REST response. */
  data: unknown
}

/** Every public route that has a GraphQL operation; routes for files and routes that always refuse have none. */
export const rows: readonly Route[] = routes.filter(
  (route) => 'document' in route && route.surfaces.includes('public'),
) as Route[]

/** A path with its parameters filled in. */
export function addressOf(path: string, { params = {} }: Asked): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] as string))
}

export function askRest(api: Api, { method, path }: Pick<Route, 'method' | 'path'>, asked: Asked): Promise<Answer> {
  const search = new URLSearchParams(asked.query).toString()
  const url = addressOf(path, asked).slice(1) + (search && `?${search}`)
  if (method === 'GET') return api.get(url)
  // The client sends a string body as it is, so a JSON string must be encoded here.
  const body = typeof asked.body === 'string' ? JSON.stringify(asked.body) : asked.body
  return api[method.toLowerCase() as 'post' | 'put' | 'delete'](url, body)
}

export function askGraph(api: Api, row: Route, { params = {}, query = {}, body = {} }: Asked): Promise<Answer> {
  const parsed = row.query?.parse(query) ?? {}
  const variables = row.variables({ params, query: parsed as never, body: body as Record<string, unknown> })
  return api.graphql(print(row.document), variables)
}

export function restDecision({ body }: Answer): Decision {
  return body.error ? { ...body.error, data: null } : { code: null, message: null, data: body.data }
}

/** Projects the data to the REST record of the route, and renames GraphQL arguments in messages to their REST names. */
export function graphDecision(row: Route, { query = {} }: Asked, { body }: Answer): Decision {
  const [error] = body.errors ?? []
  if (!error) {
    const parsed = row.query?.parse(query) ?? {}
    return { code: null, message: null, data: row.project(body.data as never, parsed as never) }
  }
  const { code } = error.extensions
  return { code, message: code === 'VALIDATION_ERROR' ? renamed(row, error.message) : error.message, data: null }
}

function renamed({ renames }: Route, message: string): string {
  const names: Record<string, string> = { input: 'body', ...renames }
  return message.replace(/(^|; )(\w+):/g, (_, before: string, name: string) => `${before}${names[name] ?? name}:`)
}
