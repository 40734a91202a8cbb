// What the hub keeps telling of: a subscription's selection, executed on events or on a present value.
import { type ExecutionArgs, type ExecutionResult, execute } from 'graphql'
import type { Context, Principal } from '../core/context.ts'
import { codeOf } from '../core/errors.ts'
import { publish } from '../core/execute.ts'
import type { Entry } from './entry.ts'
import type { LogView, StateView } from './fanout.ts'
import type { LogSource, StateSource } from './follow.ts'
import type { LogEvent } from './log.ts'
import { cursorOf } from './place.ts'

interface StreamArgs extends ExecutionArgs {
  contextValue: Context
}

/** Executes the subscription's selection on each event; those of one batch share a context, and so its loaders. */
export function logView(key: string, args: StreamArgs, { filter }: LogSource): LogView {
  async function render(events: readonly LogEvent[]): Promise<Entry[]> {
    const contextValue = { ...args.contextValue }
    const results = await Promise.all(events.map((rootValue) => execute({ ...args, rootValue, contextValue })))
    return results.map((result, at) => {
      const event = events[at] as LogEvent
      const cursor = cursorOf(contextValue.app, event)
      return { seq: event.seq, cursor, name: event.type, body: bodyOf(result, contextValue) }
    })
  }
  return { key, workspaceId: args.contextValue.principal.workspaceId, filter, render }
}

/** Executes it whenever it is asked for. */
export function stateView(key: string, args: StreamArgs, { subjects }: StateSource): StateView {
  async function render(): Promise<{ body: string; ended: boolean }> {
    const contextValue = { ...args.contextValue }
    const result = await execute({ ...args, rootValue: null, contextValue })
    // A state without data is gone, and its error says why.
    return { body: bodyOf(result, contextValue), ended: result.data == null }
  }
  return { key, workspaceId: args.contextValue.principal.workspaceId, subjects, render }
}

/** @throws when the database was out of reach for a part of it, so that it is tried again and nothing is told wrong. */
function bodyOf(result: ExecutionResult, context: Context): string {
  if (!result.errors) return JSON.stringify(result)
  const told = published(result, context)
  if (told.errors?.some((error) => codeOf(error) === 'SERVICE_UNAVAILABLE')) throw new Error('the database is out of reach')
  return JSON.stringify(told)
}

/** A result as readers may see it. */
export function published(result: ExecutionResult, context: Context): ExecutionResult {
  return { ...result, errors: result.errors?.map((error) => publish(error, context)) }
}

/** Who may share what was rendered: everyone for whom every field would say the same. */
export function audienceOf({ credentialId: _, ...who }: Principal): unknown {
  return who
}
