// Lists the requests that an OpenAPI document shows: each of its routes, once with every example of a body.
import type { Example } from '../../rest-compat/openapi/example.ts'
import type { Surface } from '../../rest-compat/route.ts'
import { apiDocument } from '../kit/document.ts'

export interface Told {
  operationId: string
  parameters?: { name: string; in: string; example?: string }[]
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> }
  responses: Record<string, unknown>
}

export interface Call {
  method: string
  path: string
  operation: Told
  /** Null where the route has no body. */
  example: Example | null
}

/** Operations that delete what other examples use come last, in this order. */
const takesAway = [/^(logout|remove)/, /^delete/, /^bulkDelete/]

function rankOf({ operation }: Call): number {
  return takesAway.findIndex((form) => form.test(operation.operationId))
}

export function callsOf(surface: Surface): Call[] {
  const calls = Object.entries(apiDocument(surface).paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, outcome]) => {
      const operation = outcome as unknown as Told
      const given = Object.values(operation.requestBody?.content['application/json']?.examples ?? {})
      const examples: (Example | null)[] = given.length > 0 ? given : [null]
      return examples.map((example): Call => ({ method, path, operation, example }))
    }),
  )
  return calls.sort((a, b) => rankOf(a) - rankOf(b))
}
