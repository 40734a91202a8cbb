// What one GraphQL operation may ask for, counted before anything runs.
import { complexityFromQuery } from '@pothos/plugin-complexity'
import type { DefinitionNode, DocumentNode, ExecutionArgs, GraphQLError, OperationDefinitionNode } from 'graphql'
import { getOperationAST, getVariableValues, Kind, print, visit } from 'graphql'
import { maxTokens } from './core/documents.ts'
import { failure } from './core/errors.ts'
import { faultOfLists, nullArgument } from './core/refuse-variables.ts'
import { rootFields } from './core/root-fields.ts'

/** How deep, how wide, how many nodes it may touch; how much text it may be. */
export const limits = { depth: 20, breadth: 200, complexity: 20_000, tokens: maxTokens, aliases: 15, directives: 50 } as const

type CountedArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'>

/** For each document, by the variables that can make it cost more or less: sizes of pages, and what is included. */
const keptVerdicts = 100
const maxNameLength = 500
const verdicts = new WeakMap<DocumentNode, Map<string, GraphQLError | null>>()

/** Counts what an operation may touch, with its variables. Null where it may run. */
export function refuseCostly(args: CountedArgs): GraphQLError | null {
  const tooLong = faultOfLists(args.document, args.operationName, args.variableValues)
  if (tooLong) return failure('VALIDATION_ERROR', tooLong)
  const known = verdicts.get(args.document) ?? new Map<string, GraphQLError | null>()
  verdicts.set(args.document, known)
  // Null too, which takes the place of a variable's default.
  const counted = Object.entries(args.variableValues ?? {}).filter(
    ([, value]) => value === null || typeof value === 'number' || typeof value === 'boolean',
  )
  const name = JSON.stringify([args.operationName, counted])
  let verdict = known.get(name)
  if (verdict !== undefined) return verdict
  const operation = getOperationAST(args.document, args.operationName)
  if (!operation) return null
  // Variables that do not fit are refused, by name, where they are coerced.
  if (getVariableValues(args.schema, operation.variableDefinitions ?? [], args.variableValues ?? {}, { maxErrors: 1 }).errors)
    return null
  verdict = countCost(args, operation)
  if (known.size < keptVerdicts && name.length <= maxNameLength) known.set(name, verdict)
  return verdict
}

function countCost(args: CountedArgs, operation: OperationDefinitionNode): GraphQLError | null {
  const { schema, document, variableValues: variables = {}, contextValue } = args
  if (operation.operation === 'mutation' && rootFields(document, operation).length > 1) {
    return failure('VALIDATION_ERROR', 'A request may hold one mutation; send the others on their own')
  }
  // Of several operations the first would be counted, whichever is to run.
  const definitions = [operation, ...document.definitions.filter(({ kind }) => kind === 'FragmentDefinition')]
  if (['__schema', 'types'].some((name) => timesSelected(name, definitions) > 1)) {
    return failure('VALIDATION_ERROR', 'A request may look at the schema once')
  }
  let cost: ReturnType<typeof complexityFromQuery>
  try {
    cost = complexityFromQuery(print({ ...document, definitions }), {
      schema,
      variables: { ...variables },
      ctx: contextValue as object,
    })
  } catch (error) {
    return failure('VALIDATION_ERROR', nullArgument(error) ?? 'The cost of the query cannot be counted')
  }
  for (const kind of ['depth', 'breadth', 'complexity'] as const) {
    if (cost[kind] > limits[kind]) {
      return failure('VALIDATION_ERROR', `The query's ${kind} is ${cost[kind]}; at most ${limits[kind]} is allowed`)
    }
  }
  return null
}

/** What is below `__schema` is not counted, and by other names each look at all types makes a megabyte. */
function timesSelected(name: string, definitions: readonly DefinitionNode[]): number {
  let times = 0
  visit(
    { kind: Kind.DOCUMENT, definitions },
    {
      Field(node) {
        if (node.name.value === name) times++
      },
    },
  )
  return times
}
