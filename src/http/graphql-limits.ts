// Limits of one GraphQL operation, checked before it runs: depth, breadth, complexity, text size.
import type { GraphQLError } from 'graphql'
import { failure } from '../core/errors.ts'
import { wholeBudget } from '../core/graph/budget.ts'
import { type CountedArgs, costOf } from '../core/graph/cost.ts'
import { type Cost, maxLines, maxQueryLength, maxTokens, operationOf } from '../core/graph/prepared.ts'
import { faultOfLists, nullArgument } from '../core/graph/refuse-variables.ts'
import { rootFields } from '../core/graph/root-fields.ts'

/** `complexity` is the number of items in the answer. `length` is in UTF-16 units. */
export const limits = {
  depth: 20,
  breadth: 200,
  complexity: wholeBudget.items,
  tokens: maxTokens,
  length: maxQueryLength,
  lines: maxLines,
  aliases: 15,
  directives: 50,
} as const

/** Estimates the cost of an operation with its variables. Returns null if it may run, or else the error. */
export function refuseCostly(args: CountedArgs): GraphQLError | null {
  const tooLong = faultOfLists(args.document, args.operationName, args.variableValues)
  if (tooLong) return failure('VALIDATION_ERROR', tooLong)
  const node = operationOf(args.document, args.operationName)?.node
  if (node?.operation === 'mutation' && rootFields(args.document, node).length > 1) {
    return failure('VALIDATION_ERROR', 'A request may have one mutation only; send the others separately')
  }
  let cost: Cost | null
  try {
    cost = costOf(args)
  } catch (error) {
    return failure('VALIDATION_ERROR', nullArgument(error) ?? 'The cost of the query cannot be computed')
  }
  for (const kind of ['depth', 'breadth', 'complexity'] as const) {
    if (cost && cost[kind] > limits[kind]) {
      return failure('VALIDATION_ERROR', `The query's ${kind} is ${cost[kind]}; at most ${limits[kind]} is allowed`)
    }
  }
  return null
}
