// Every example request of the OpenAPI document, with the ids of objects that the test owns.
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import type { Route } from '../../rest-compat/route.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { demoIds } from '../../src/demo/demo.ts'
import { apiDocument } from '../kit/document.ts'
import { type Asked, rows } from './both.ts'
import { type Kind, kinds, suppressedNumber, type Things } from './things.ts'

export interface Shown {
  name: string
  row: Route
  about: (things: Things) => Asked
  /** The kinds of objects that the request names. */
  names: readonly Kind[]
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[]
  responses: Record<string, { $ref?: string }>
  requestBody?: { content: Record<'application/json', { schema: Schema; examples?: Record<string, { value: unknown }> }> }
}

/** Deletions come last, because they remove what other requests name; nested objects are deleted before their parents. */
function rankOf({ path, method }: Route): number {
  return method === 'DELETE' ? 100 - path.length : Number(path.includes('delete'))
}

const labels = Object.fromEntries(kinds.map((kind) => [kind, `<${kind}>`])) as Things

/** In an order in which all of them succeed one after another. */
export const shown: readonly Shown[] = rows
  .toSorted((a, b) => rankOf(a) - rankOf(b))
  .flatMap((row): Shown[] => {
    const examples = operationOf(row).requestBody?.content['application/json'].examples ?? { '': { value: undefined } }
    return Object.entries(examples).map(([example, { value }]) => {
      const about = (things: Things) => ({
        params: paramsOf(row, things),
        query: queryOf(row, things),
        body: bodyOf(value, things),
      })
      const labelled = JSON.stringify(about(labels))
      const names = kinds.filter((kind) => labelled.includes(labels[kind]))
      return { name: `${row.method} ${row.path} ${example}`.trimEnd(), row, about, names }
    })
  })

export function operationOf({ method, path }: Route): Operation {
  return apiDocument().paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] as unknown as Operation
}

/** The error codes that the document lists for a route; a response that can have several codes names all of them. */
export function errorsOf(row: Route): ErrorCode[] {
  return Object.values(operationOf(row).responses).flatMap(
    ({ $ref }) => ($ref?.split('/').at(-1)?.split('.') ?? []) as ErrorCode[],
  )
}

export function paramsOf({ path }: Route, things: Things): Record<string, string> {
  const parts = path.split('/')
  const kindAt = (i: number) => (parts[i + 1] === 'read' ? 'received' : parts[i - 1]?.split('-').at(-1))
  const named = parts.flatMap((part, i) => (part.startsWith(':') ? [[part.slice(1), kindAt(i)]] : []))
  return Object.fromEntries(named.map(([param, kind]) => [param, param === 'phone' ? suppressedNumber : things[kind as Kind]]))
}

/** Every id that the list can be filtered by, and the parameters that it requires. */
function queryOf({ query }: Route, things: Things): Record<string, string> {
  const known: Record<string, string> = { ...things, campaignId: things.campaigns, phone: '+4915112345678' }
  const taken = Object.keys(query?.shape ?? {}).filter((name) => name in known)
  return Object.fromEntries(taken.map((name) => [name, known[name] as string]))
}

function bodyOf(example: unknown, things: Things): unknown {
  if (example === undefined) return undefined
  const names = Object.keys(demoIds) as (keyof typeof demoIds)[]
  return JSON.parse(names.reduce((json, name) => json.replaceAll(demoIds[name], things[name]), JSON.stringify(example)))
}
