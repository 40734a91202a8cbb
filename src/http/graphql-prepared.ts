// Fast path of a GraphQL request: a cached, validated document goes straight to the executor.
import type { ExecutionResult, GraphQLSchema } from 'graphql'
import { getOperationAST } from 'graphql'
import type { Context, Idempotency } from '../core/context.ts'
import { piecesBudget } from '../core/graph/budget.ts'
import type { Documents } from '../core/graph/documents.ts'
import { executeOperation } from '../core/graph/execute.ts'
import { refuseCostly } from './graphql-limits.ts'

export interface GraphqlRequest {
  query: string
  operationName?: string | null
  variables?: Record<string, unknown> | null
}

/**
 * Executes a query or mutation whose document is valid. Returns null, and runs nothing, in every other case: graphql-yoga then answers
 * (`graphql-yoga.ts`).
 */
export async function executePrepared(
  schema: GraphQLSchema,
  documents: Documents,
  request: unknown,
  context: Context,
  idempotency: Idempotency | null,
): Promise<ExecutionResult | null> {
  if (!isPlain(request)) return null
  const { document, errors } = documents(request.query)
  if (!document || errors.length > 0) return null
  const { operationName, variables } = request
  const operation = getOperationAST(document, operationName)?.operation
  if (operation !== 'query' && operation !== 'mutation') return null
  if (refuseCostly({ schema, document, operationName, variableValues: variables })) return null
  const own = operation === 'mutation' ? { ...context, idempotency } : context
  return await executeOperation({ schema, document, operationName, variables, context: own, limits: piecesBudget })
}

const plainFields = new Set(['query', 'operationName', 'variables'])

function isPlain(request: unknown): request is GraphqlRequest {
  const { query, operationName, variables } = request as Record<string, unknown>
  return (
    typeof query === 'string' &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || (typeof variables === 'object' && !Array.isArray(variables))) &&
    Object.keys(request as object).every((name) => plainFields.has(name))
  )
}

const plainTypes: Record<string, string> = {
  'application/graphql-response+json': 'application/graphql-response+json',
  'application/json': 'application/json',
  'application/*': 'application/json',
  '*/*': 'application/json',
}

/** The first known media type of an `Accept` header, as the content type to answer with. Undefined for unusual headers. */
export function plainType(accept = '*/*'): string | undefined {
  if (accept.includes('charset')) return undefined
  for (const range of accept.split(',')) {
    const type = plainTypes[range.split(';', 1)[0]?.trim().toLowerCase() ?? '']
    if (type) return type
  }
  return undefined
}
