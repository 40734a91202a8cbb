// Describes the faults of an operation's variables by field; graphql-js words them differently and stops at the first.
import {
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getOperationAST,
  type TypeNode,
  typeFromAST,
} from 'graphql'
import type { z } from 'zod'
import type { Context } from '../context.ts'
import { failure, type Issue, invalid } from '../errors.ts'
import { faultsOf, uuid } from '../validation.ts'
import { inputs } from './input.ts'
import { faultOfLength, faultOfLongest } from './long-lists.ts'
import { needsActive } from './root-fields.ts'

interface Refused {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null
  variables?: Record<string, unknown> | null
  context: Context
}

/** Returns the error for invalid variables, by field. A missing scope of the operation's fields comes first. */
export function refuseVariables(operation: Refused, errors: readonly GraphQLError[]): GraphQLError {
  const definition = getOperationAST(operation.document, operation.operationName)
  if (!definition) return failure('VALIDATION_ERROR', errors[0]?.message)
  if (!operation.context.principal.active && needsActive(operation.schema, operation.document, operation.operationName)) {
    return failure('SUBSCRIPTION_INACTIVE')
  }
  const faults = (definition.variableDefinitions ?? []).flatMap(({ variable, type }) => {
    const name = variable.name.value
    const value = operation.variables?.[name]
    const schema = inputs.get(namedType(type))?.schemaFor(operation.context.app.config)
    if (!schema)
      return isMalformedId(name, value, type)
        ? [{ path: name, message: 'must be a UUID' }]
        : plainFaults(operation.schema, name, value, type)
    if (isList(type)) return value == null ? plainFaults(operation.schema, name, value, type) : itemFaults(schema, name, value)
    const parsed = (type.kind === 'NonNullType' ? schema : schema.nullish()).safeParse(value)
    return parsed.success ? [] : faultsOf(parsed.error as z.ZodError, name)
  })
  if (faults.length > 0) return invalid(faults)
  return failure('VALIDATION_ERROR', errors.map((error) => withoutSuggestion(error.message)).join('; '))
}

/** Returns the fault of the first list in the variables that is too long, or null. Runs before any variable is coerced. */
export function faultOfLists(
  document: DocumentNode,
  operationName: string | null | undefined,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): string | null {
  if (!variables) return null
  for (const { variable, type } of getOperationAST(document, operationName)?.variableDefinitions ?? []) {
    const name = variable.name.value
    const input = inputs.get(namedType(type))
    const fault = input && !isList(type) ? faultOfLength(input.schema, variables[name]) : faultOfLongest(variables[name], name)
    if (fault) return fault
  }
  return null
}

/** Returns a message of graphql-js without its suggestions of other names. It may quote a value of 250,000 blanks. */
export function withoutSuggestion(message: string): string {
  const at = message.indexOf('Did you mean ')
  return at < 0 ? message : message.slice(0, at).trimEnd()
}

/** Returns the message for a non-null argument that got null from a variable, by name; null for any other error. */
export function nullArgument(error: unknown): string | null {
  const name = error instanceof GraphQLError && /^Argument "(\w+)" of non-null type /.exec(error.message)?.[1]
  return name ? `${name}: must not be null` : null
}

function namedType(type: TypeNode): string {
  return type.kind === 'NamedType' ? type.name.value : namedType(type.type)
}

function isList(type: TypeNode): boolean {
  return type.kind === 'NonNullType' ? isList(type.type) : type.kind === 'ListType'
}

/** True for text that cannot be the id of a record. The graph would find that only after all variables are coerced. */
function isMalformedId(name: string, value: unknown, type: TypeNode): boolean {
  return /^(id|\w+Id)$/.test(name) && namedType(type) === 'ID' && typeof value === 'string' && !uuid.safeParse(value).success
}

/** Most faults to report; a list can hold far more than anybody reads. */
const mostFaults = 100

/** Returns the faults of a variable that is a list of inputs, by index. GraphQL takes a single value for a list of one. */
function itemFaults(schema: z.ZodType, name: string, value: unknown): Issue[] {
  const faults: Issue[] = []
  for (const [index, item] of (Array.isArray(value) ? value : [value]).entries()) {
    const { error } = schema.safeParse(item)
    const own = error ? faultsOf(error, '') : []
    faults.push(...own.map(({ path, message }) => ({ path: `${name}.${index}${path && `.${path}`}`, message })))
    if (faults.length >= mostFaults) break
  }
  return faults
}

/** Returns the faults of a variable that is not an input; items of a list are named by index. */
function plainFaults(graph: GraphQLSchema, name: string, value: unknown, type: TypeNode): Issue[] {
  const faults: Issue[] = []
  try {
    coerceInputValue(value, typeFromAST(graph, type as never) as GraphQLInputType, (path, found) => {
      const message = found === undefined || found === null ? 'is required' : `must be of type ${namedType(type)}`
      if (faults.push({ path: [name, ...path].join('.'), message }) === mostFaults) throw new RangeError('enough')
    })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return faults
}
