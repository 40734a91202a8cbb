// The one path of GraphQL requests: http/graph.ts parses, validates, limits and executes those of every surface.
import type { ExecutionArgs, ExecutionResult, GraphQLSchema } from 'graphql'
import type { RequestParams } from 'graphql-sse'
import type { Context } from '../context.ts'
import type { BudgetLimits } from './budget.ts'

/** A GraphQL request, with its parameters checked for their types. */
export type GraphqlParams = RequestParams

/** Arguments of a subscription, for executing its selection on each event. */
export type FollowArgs = ExecutionArgs & { contextValue: Context }

export type Outcome =
  /** The document, the variables or a limit forbids the operation. Nothing ran. */
  | { kind: 'refused'; result: ExecutionResult }
  | { kind: 'result'; result: ExecutionResult }
  /** A subscription that can be followed: what its field's `subscribe` returned. */
  | { kind: 'source'; source: unknown; args: FollowArgs }

export interface Graph {
  schema: GraphQLSchema
  /** Runs a query or mutation within these limits. Every failure is in the result, as an error with a code of the API. */
  run: (params: GraphqlParams, context: Context, limits: BudgetLimits) => Promise<ExecutionResult>
  /** Runs any operation whose answer is a stream. */
  open: (params: GraphqlParams, context: Context) => Promise<Outcome>
}
