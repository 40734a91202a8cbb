// One request on both surfaces: a row by REST, and the row's own operation over GraphQL.
import { print } from 'graphql'
import type { Route } from '../../rest-compat/route.ts'
import { routes } from '../../rest-compat/routes.ts'
import type { Answer, Api } from '../kit/kit.ts'

/** What a route is asked. */
export interface Asked {
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
}

/** What both surfaces say in their own form. */
export interface Decision {
  /** Null for what was done. */
  code: string | null
  message: string | null
  /** REST's `data`. */
  data: unknown
}

/** Every public route that the graph answers; those about files and those refused to everybody have no twin there. */
export const rows: readonly Route[] = routes.filter(
  (route): route is Route => 'document' in route && route.surfaces.includes('public'),
)

/** A path with its parameters in their places. */
export function addressOf(path: string, { params = {} }: Asked): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] as string))
}

export function askRest(api: Api, { method, path }: Pick<Route, 'method' | 'path'>, asked: Asked): Promise<Answer> {
  const search = new URLSearchParams(asked.query).toString()
  const url = addressOf(path, asked).slice(1) + (search && `?${search}`)
  if (method === 'GET') return api.get(url)
  // The client would send a text as it is.
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

/** With the record that the row makes of it, and REST's names of the graph's arguments. */
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
