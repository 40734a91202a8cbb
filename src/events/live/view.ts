// Views that the hub follows: a subscription's selection, executed on events or on a current value.
import { type ExecutionResult, execute } from 'graphql'
import type { Context } from '../../core/context.ts'
import { codeOf } from '../../core/errors.ts'
import { Budget, type BudgetLimits, wholeBudget } from '../../core/graph/budget.ts'
import { callerOf, measured, operationMemory, publish, weightOf } from '../../core/graph/execute.ts'
import type { FollowArgs } from '../../core/graph/graph.ts'
import type { Principal } from '../../core/principal.ts'
import { createTurns } from '../../core/turns.ts'
import { markedOf } from '../log/cursor.ts'
import type { LogEvent } from '../log/log.ts'
import { cursorOf } from '../log/place.ts'
import type { Entry } from './entry.ts'
import type { LogView } from './fanout.ts'
import type { LogSource, StateSource } from './follow.ts'
import type { StateView } from './state-topics.ts'

/** Budget of events that are rendered together. A single event may use {@link wholeBudget}. */
const togetherBudget: BudgetLimits = { ...wholeBudget, answerBytes: 1024 * 1024 }

/** Most events that are rendered at once. */
const atOnce = 64
/**
 * Rendering more events than these waits for a turn. Without turns, the fifty different subscriptions of an account that sent 1,500 messages let
 * a message of another account wait for 2 to 17 s, and with them for 1 to 2 s.
 */
const few = 8
const ownTurn = createTurns()

/**
 * Executes the subscription's selection on each event. The events of one batch share a context, and so its loaders and its budget. When
 * the budget is too small for the batch, only its first events are rendered: half as many at each try. The next batch begins with the
 * number that fitted, and with twice as many once the first try fits, so that large events do not cost many tries each.
 */
export function logView(key: string, args: FollowArgs, { filter }: LogSource): LogView {
  let most = atOnce
  async function render(events: readonly LogEvent[]): Promise<Entry[]> {
    const first = Math.min(events.length, most)
    for (let count = first; ; count = Math.ceil(count / 2)) {
      const some = events.slice(0, count)
      if (count > few) await ownTurn()
      const { results, context, spent } = await executeOn(args, some, count === 1 ? wholeBudget : togetherBudget)
      if (spent && count > 1) continue
      most = count < first ? count : Math.min(atOnce, Math.max(most, 2 * count))
      return some.map((event, at) => {
        const body = bodyOf(spent ? { errors: [spent] } : (results[at] as ExecutionResult), context)
        return { ...markedOf(event), cursor: cursorOf(context.app, event), name: event.type, body }
      })
    }
  }
  return { key, workspaceId: args.contextValue.principal.workspaceId, filter, render }
}

/** Executes the selection each time the value is requested. */
export function stateView(key: string, args: FollowArgs, { subjects }: StateSource): StateView {
  async function render(): Promise<{ body: string; ended: boolean }> {
    const { results, context, spent } = await executeOn(args, [null], wholeBudget)
    const result = spent ? { errors: [spent] } : (results[0] as ExecutionResult)
    // A result without data means that the entity is gone. Its error says why.
    return { body: bodyOf(result, context), ended: result.data == null }
  }
  return { key, workspaceId: args.contextValue.principal.workspaceId, subjects, render }
}

/** Executes on each root value, on one budget. A caller's streams share memory, apart from the caller's other requests. */
async function executeOn(args: FollowArgs, roots: readonly unknown[], limits: BudgetLimits) {
  return await operationMemory.during(`streams of ${callerOf(args.contextValue)}`, weightOf(args, limits), async () => {
    const budget = new Budget(limits, args.contextValue.principal.ownerId)
    const context = { ...args.contextValue, budget }
    const results = await Promise.all(
      roots.map((rootValue) => measured(budget, () => execute({ ...args, rootValue, contextValue: context }))),
    )
    return { results, context, spent: budget.spent }
  })
}

/** Codes of temporary failures. */
const temporary: ReadonlySet<string | null> = new Set(['SERVICE_UNAVAILABLE', 'API_RATE_LIMIT_EXCEEDED'])

/**
 * The result as JSON text.
 * @throws Error when the database was unavailable, or too busy with the caller, for a part of the result. A retry follows, so that no wrong
 * result is sent.
 */
function bodyOf(result: ExecutionResult, context: Context): string {
  if (!result.errors) return JSON.stringify(result)
  const answer = published(result, context)
  if (answer.errors?.some((error) => temporary.has(codeOf(error)))) throw new Error('the database is unavailable')
  return JSON.stringify(answer)
}

/** A result with its errors as clients may see them. */
function published(result: ExecutionResult, context: Context): ExecutionResult {
  return { ...result, errors: result.errors?.map((error) => publish(error, context)) }
}

/** Identifies the callers who may share rendered output: those for whom every field has the same result. */
export function audienceOf({ credentialId: _, ...who }: Principal): unknown {
  return who
}
