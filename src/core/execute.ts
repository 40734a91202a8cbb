// Runs an operation of the graph in process: the one way in for REST rows and for GraphQL over HTTP alike.
import { type DocumentNode, type ExecutionResult, GraphQLError, type GraphQLSchema } from 'graphql'
import type { Context } from './context.ts'
import { codeOf } from './errors.ts'
import { keepFailure } from './idempotency.ts'
import { publicFailure } from './public-failure.ts'
import { nullArgument, refuseVariables } from './refuse-variables.ts'
import { runDocument } from './run.ts'

export interface Operation {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null
  variables?: Record<string, unknown> | null
  context: Context
}

/** Executes; whatever goes wrong comes back as an error with one of the contract's codes and nothing of its inside. */
export async function executeOperation(operation: Operation): Promise<ExecutionResult> {
  const { schema, document, operationName, variables, context } = operation
  const result = await runDocument({ schema, document, operationName, variableValues: variables, contextValue: context })
  if (!result.errors) return result
  // Without data nothing ran: the variables did not fit their types.
  const errors =
    result.data === undefined
      ? [refuseVariables(operation, result.errors)]
      : result.errors.map((error) => publish(error, context))
  const [first, ...rest] = errors as [GraphQLError, ...GraphQLError[]]
  return { ...result, errors: [(await keepFailure(context, first)) as GraphQLError, ...rest] }
}

/** An error as callers may see it; what nobody foresaw is logged and told without detail. */
export function publish(error: GraphQLError, context: Pick<Context, 'app' | 'requestId'>): GraphQLError {
  const cause = error.originalError ?? error
  if (codeOf(error)) return error
  const refused = nullArgument(cause)
  const { code, message } = refused ? { code: 'VALIDATION_ERROR', message: refused } : publicFailure(cause)
  if (code === 'INTERNAL_ERROR') context.app.log.error({ err: cause, requestId: context.requestId }, 'unforeseen error')
  return new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions: { code } })
}
