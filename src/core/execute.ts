// Runs an operation of the graph in process: the one way in for REST rows and for GraphQL over HTTP alike.
import {
  coerceInputValue,
  type DocumentNode,
  type ExecutionResult,
  execute,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getOperationAST,
  type TypeNode,
  typeFromAST,
} from 'graphql'
import type { z } from 'zod'
import type { Context } from './context.ts'
import { codeOf, failure } from './errors.ts'
import { keepFailure } from './idempotency.ts'
import { inputs } from './input.ts'
import { publicFailure } from './public-failure.ts'
import { needsActive } from './root-fields.ts'
import { faultsOf } from './validation.ts'

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
  const result = await execute({ schema, document, operationName, variableValues: variables, contextValue: context })
  if (!result.errors) return result
  // Without data nothing ran: the variables did not fit their types.
  const errors =
    result.data === undefined
      ? [await refuseVariables(operation, result.errors)]
      : result.errors.map((error) => publish(error, context))
  const [first, ...rest] = errors as [GraphQLError, ...GraphQLError[]]
  return { ...result, errors: [(await keepFailure(context, first)) as GraphQLError, ...rest] }
}

/** An error as callers may see it; what nobody foresaw is logged and told without detail. */
export function publish(error: GraphQLError, context: Pick<Context, 'app' | 'requestId'>): GraphQLError {
  const cause = error.originalError ?? error
  if (codeOf(error)) return error
  const { code, message } = publicFailure(cause)
  if (code === 'INTERNAL_ERROR') context.app.log.error({ err: cause, requestId: context.requestId }, 'unforeseen error')
  return new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions: { code } })
}

/** Says by field what is wrong with variables; the scopes of the fields they are for come first. */
async function refuseVariables(operation: Operation, errors: readonly GraphQLError[]): Promise<GraphQLError> {
  const definition = getOperationAST(operation.document, operation.operationName)
  if (!definition) return failure('VALIDATION_ERROR', errors[0]?.message)
  if (!operation.context.principal.active && needsActive(operation.schema, operation.document, operation.operationName)) {
    return failure('SUBSCRIPTION_INACTIVE')
  }
  const faults = (definition.variableDefinitions ?? []).flatMap(({ variable, type }) => {
    const name = variable.name.value
    const value = operation.variables?.[name]
    const schema = inputs.get(namedType(type))?.schemaFor(operation.context.app.config)
    if (!schema) return plainFaults(operation.schema, name, value, type)
    const parsed = (type.kind === 'NonNullType' ? schema : schema.nullish()).safeParse(value)
    return parsed.success ? [] : [faultsOf(parsed.error as z.ZodError, name)]
  })
  return failure(
    'VALIDATION_ERROR',
    faults.length > 0 ? faults.join('; ') : errors.map((error) => withoutSuggestion(error.message)).join('; '),
  )
}

/** What graphql-js says, but for what else there is. */
export function withoutSuggestion(message: string): string {
  return message.replace(/\s*Did you mean .*$/s, '')
}

function namedType(type: TypeNode): string {
  return type.kind === 'NamedType' ? type.name.value : namedType(type.type)
}

/** As many as anybody reads; a list has room for more than an answer should. */
const mostFaults = 100

/** What is wrong with a variable that is no input: each item of a list by its place. */
function plainFaults(graph: GraphQLSchema, name: string, value: unknown, type: TypeNode): string[] {
  const faults: string[] = []
  try {
    coerceInputValue(value, typeFromAST(graph, type as never) as GraphQLInputType, (path, found) => {
      const fault = found === undefined || found === null ? 'is required' : `must be of type ${namedType(type)}`
      if (faults.push(`${[name, ...path].join('.')}: ${fault}`) === mostFaults) throw new RangeError('enough')
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return faults
}
