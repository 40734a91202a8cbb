// Executes a GraphQL operation in process, for REST routes and for GraphQL over HTTP alike.
import { type DocumentNode, type ExecutionArgs, type ExecutionResult, execute, GraphQLError, type GraphQLSchema } from 'graphql'
import type { Context } from '../context.ts'
import { codeOf, errors, failure, invalidToken } from '../errors.ts'
import { keepFailure } from '../idempotency/idempotency.ts'
import { lacksWorkspace, publicFailure } from '../public-failure.ts'
import { createShare, type Reservation } from '../share.ts'
import { markLarge } from './answer.ts'
import { Budget, type BudgetLimits, wholeBudget, withBudget } from './budget.ts'
import { executeCompiled } from './compiled.ts'
import { type CountedArgs, costOf } from './cost.ts'
import { nullArgument, refuseVariables } from './refuse-variables.ts'

/** An operation with a larger upper bound of bytes skips compiled execution. */
const largeBytes = 16 * 1024 * 1024

/** Memory that operations reserve while they run and until their answers are sent (backpressure). */
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
  /** Limits on what the operation may return and read; {@link wholeBudget} by default. */
  limits?: BudgetLimits
}

/** Executes an operation. Every failure is returned as an error with a code of the API and without internal details. */
export async function executeOperation(operation: Operation): Promise<ExecutionResult> {
  const { context, limits = wholeBudget } = operation
  const weight = weightOf({ ...operation, variableValues: operation.variables }, limits)
  let reservation: Reservation
  try {
    reservation = await operationMemory.take(callerOf(context), weight, context.response)
  } catch (error) {
    return { errors: [error as GraphQLError] }
  }
  let budget = new Budget(limits, context.principal.ownerId)
  try {
    let result = weight > largeBytes ? null : await run(operation, budget, executeCompiled)
    if (!result) {
      budget = new Budget(limits, context.principal.ownerId)
      result = await run(operation, budget, execute)
    }
    markLarge(result, budget.answerBytes)
    return result
  } finally {
    reservation.keepUntilSent(budget.answerBytes)
  }
}

/** Executes on a budget. The refusal of a mutation is stored under its Idempotency-Key. */
async function run<Result extends ExecutionResult | null>(
  operation: Operation,
  budget: Budget,
  executor: (args: ExecutionArgs) => Result | Promise<Result>,
): Promise<Result | ExecutionResult> {
  const { schema, document, operationName, variables } = operation
  const context = { ...operation.context, budget }
  const args = { schema, document, operationName, variableValues: variables, contextValue: context }
  const result = await measured(budget, () => executor(args))
  // A compiled run with errors returns null, to run again; but a spent budget would end the next run too.
  if (result ? !result.errors : !budget.spent) return result
  const [first, ...rest] = errorsOf({ ...operation, context }, result?.data, result?.errors ?? [], budget)
  const errors = [(await keepFailure(context, first as GraphQLError)) as GraphQLError, ...rest]
  return budget.spent ? { errors, data: null } : { ...result, errors }
}

/** Runs an executor on a budget, and counts its answer. */
export async function measured<Result extends ExecutionResult | null>(
  budget: Budget,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const result = await withBudget(budget, run)
  try {
    budget.addAnswer(result?.data)
    return result
  } catch (error) {
    return { ...result, errors: [error as GraphQLError] }
  }
}

function errorsOf(operation: Operation, data: unknown, errors: readonly GraphQLError[], { spent }: Budget): GraphQLError[] {
  // A spent budget ends the whole operation, regardless of the field that spent it.
  if (spent) return [spent]
  // Without data nothing was executed: the variables did not fit their types.
  if (data === undefined) return [refuseVariables(operation, errors)]
  return errors.map((error) => publish(error, operation.context))
}

/** Key of the caller's share of {@link operationMemory}: the user for a person, over all sessions, otherwise the API key. */
export function callerOf({ principal }: Pick<Context, 'principal'>): string {
  return principal.kind === 'console' ? principal.userId : principal.credentialId
}

/** Upper bound of the bytes that an operation may hold. */
export function weightOf(operation: CountedArgs, limits: BudgetLimits): number {
  try {
    const cost = costOf(operation)
    return Math.min(cost?.bytes ?? 0, limits.readUnits + limits.answerBytes)
  } catch {
    // Invalid arguments are refused where they are read.
    return 0
  }
}

type Published = Pick<Context, 'app' | 'requestId'> & Partial<Pick<Context, 'principal'>>

/** Returns an error that callers may see. Unforeseen errors are logged and returned without details. */
export function publish(error: GraphQLError, context: Published): GraphQLError {
  const cause = error.originalError ?? error
  if (codeOf(error)) return error
  const { code, message } = failureOf(cause, context)
  if (code === 'INTERNAL_ERROR') context.app.log.error({ err: cause, requestId: context.requestId }, 'unforeseen error')
  return new GraphQLError(message, { nodes: error.nodes, path: error.path, extensions: failure(code, message).extensions })
}

function failureOf(cause: Error, { principal }: Published): ReturnType<typeof publicFailure> {
  const refused = nullArgument(cause)
  if (refused) return { code: 'VALIDATION_ERROR', message: refused }
  if (!lacksWorkspace(cause)) return publicFailure(cause)
  return { code: 'UNAUTHORIZED', message: principal?.kind === 'console' ? invalidToken : errors.UNAUTHORIZED.message }
}
