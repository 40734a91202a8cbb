// Prepares a GraphQL request for a stream: as an immediate result, or as a view that the hub follows.
import { type ExecutionResult, getOperationAST } from 'graphql'
import type { Context } from '../../core/context.ts'
import { codeOf, failure } from '../../core/errors.ts'
import type { FollowArgs, Graph, GraphqlParams } from '../../core/graph/graph.ts'
import type { Start } from '../log/place.ts'
import { variableOfArgument } from './documents.ts'
import type { LogView } from './fanout.ts'
import { sourceOf } from './follow.ts'
import { beginning } from './open-stream.ts'
import type { StateView } from './state-topics.ts'
import { audienceOf, logView, stateView } from './view.ts'

export type Prepared =
  /** Refused before execution: the document or the request is invalid. */
  | { kind: 'refused'; result: ExecutionResult }
  | { kind: 'result'; result: ExecutionResult }
  | { kind: 'log'; view: LogView; start: Start }
  | { kind: 'state'; view: StateView }

/** `lastEventId` is the last event that a reconnecting client received. It overrides the operation's own `after`. */
export type Prepare = (params: GraphqlParams, context: Context, lastEventId?: string | string[]) => Promise<Prepared>

/** Maximum characters of a subscription's document and variables, which stay in memory while it is followed. */
const maxFollowedLength = 16_384

export function createPrepare(graph: Graph): Prepare {
  return async (params, context, lastEventId) => {
    const outcome = await graph.open(params, context)
    if (outcome.kind !== 'source') return outcome
    const { query, variables } = params
    if (query.length + JSON.stringify(variables ?? {}).length > maxFollowedLength) {
      const message = `query: must have at most ${maxFollowedLength} characters, variables included, in a subscription`
      return { kind: 'refused', result: { errors: [failure('VALIDATION_ERROR', message)] } }
    }
    return await follow(params, outcome.args, outcome.source, lastEventId)
  }
}

async function follow(
  { query, operationName, variables }: GraphqlParams,
  args: FollowArgs,
  followed: unknown,
  lastEventId?: string | string[],
): Promise<Prepared> {
  const { app, principal } = args.contextValue
  const source = sourceOf(followed)
  const definition = getOperationAST(args.document, operationName)
  if (!source || !definition) throw new Error(`the subscription ${definition?.name?.value ?? ''} follows nothing`)
  const apart = { ...variables }
  const after = variableOfArgument(args.document, definition, 'after')
  if (after) delete apart[after]
  const key = JSON.stringify([query, operationName, Object.entries(apart).sort(), audienceOf(principal)])
  if (source.kind === 'state') return { kind: 'state', view: stateView(key, args, source) }
  try {
    const start = await beginning(app, principal.workspaceId, source.after, lastEventId)
    return { kind: 'log', view: logView(key, args, source), start }
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'VALIDATION_ERROR') throw error
    return { kind: 'result', result: { errors: [failure(code, (error as Error).message)] } }
  }
}
