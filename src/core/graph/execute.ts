// Runs an operation of the graph in process: the one way in for REST rows and for GraphQL over HTTP alike.
import { type DocumentNode, type ExecutionArgs, type ExecutionResult, execute, GraphQLError, type GraphQLSchema } from 'graphql'
import type { Context } from '../context.ts'
import { codeOf } from '../errors.ts'
import { keepFailure } from '../idempotency/idempotency.ts'
import { publicFailure } from '../public-failure.ts'
import { createShare, type Reservation } from '../share.ts'
import { markLarge } from './answer.ts'
import { Budget, type BudgetLimits, wholeBudget, withBudget } from './budget.ts'
import { executeCompiled } from './compiled.ts'
import { type CountedArgs, costOf } from './cost.ts'
import { nullArgument, refuseVariables } from './refuse-variables.ts'

/** An operation that may hold so much is taken for a large one. */
const largeBytes = 16 * 1024 * 1024

/** What operations hold together while they run and until their answers are sent. */
export const operationMemory = createShare({
  lightBytes: 512 * 1024,
  perCaller: 32 * 1024 * 1024,
  total: Number.POSITIVE_INFINITY,
  mostWaiting: 100,
  waitMs: 30_000,
})

export interface Operation {
  schema: GraphQLSchema
  document: DocumentNode
  operationName?: string | null
  variables?: Record<string, unknown> | null
  context: Context
  /** What it may answer and read at the most; {@link wholeBudget} unless it says otherwise. */
  limits?: BudgetLimits
}

/** Executes; whatever goes wrong comes back as an error with one of the contract's codes and nothing of its inside. */
export async function executeOperation(operation: Operation): Promise<ExecutionResult> {
  const { context, limits = wholeBudget } = operation
  const weight = weightOf({ ...operation, variableValues: operation.variables }, limits)
  let reservation: Reservation
  try {
    reservation = await operationMemory.take(callerOf(context), weight, context.response)
  } catch (error) {
    return { errors: [error as GraphQLError] }
  }
  let budget = new Budget(limits)
  try {
    let result = weight > largeBytes ? null : await run(operation, budget, executeCompiled)
    if (!result) {
      budget = new Budget(limits)
      result = await run(operation, budget, execute)
    }
    markLarge(result, budget.answerBytes)
    return result
  } finally {
    reservation.keepUntilSent(budget.answerBytes)
  }
}

/** Executes on a budget; what a mutation was refused for is kept under its key. */
async function run<Result extends ExecutionResult | null>(
  operation: Operation,
  budget: Budget,
  executor: (args: ExecutionArgs) => Result | Promise<Result>,
): Promise<Result | ExecutionResult> {
  const { schema, document, operationName, variables } = operation
  const context = { ...operation.context, budget }
  const args = { schema, document, operationName, variableValues: variables, contextValue: context }
  const result = await withBudget(budget, () => executor(args))
  if (!result?.errors) return result
  const [first, ...rest] = errorsOf({ ...operation, context }, result.data, result.errors, budget)
  const errors = [(await keepFailure(context, first as GraphQLError)) as GraphQLError, ...rest]
  return budget.spent ? { errors, data: null } : { ...result, errors }
}

function errorsOf(operation: Operation, data: unknown, errors: readonly GraphQLError[], { spent }: Budget): GraphQLError[] {
  // Wherever it was met, it ended all of the operation.
  if (spent) return [spent]
  // Without data nothing ran: the variables did not fit their types.
  if (data === undefined) return [refuseVariables(operation, errors)]
  return errors.map((error) => publish(error, operation.context))
}

/** Whose operations share memory: those of a person over all sessions, or of a key. */
export function callerOf({ principal }: Pick<Context, 'principal'>): string {
  return principal.kind === 'console' ? principal.userId : principal.credentialId
}

/** The bytes that an operation may hold at the most. */
export function weightOf(operation: CountedArgs, limits: BudgetLimits): number {
  try {
    const cost = costOf(operation)
    return Math.min(cost?.bytes ?? 0, limits.readUnits + limits.answerBytes)
  } catch {
    // Its arguments are refused where they are read.
    return 0
  }
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
