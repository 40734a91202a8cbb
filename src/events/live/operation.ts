// Prepares a GraphQL request for a stream: as an immediate result, or as a view that the hub follows.
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
} from 'graphql'
import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { codeOf } from '../../core/errors.ts'
import type { Documents } from '../../core/graph/documents.ts'
import { executeOperation } from '../../core/graph/execute.ts'
import { parse } from '../../core/validation.ts'
import type { Start } from '../log/place.ts'
import { variableOfArgument } from './documents.ts'
import type { LogView, StateView } from './fanout.ts'
import { sourceOf } from './follow.ts'
import { beginning } from './open-stream.ts'
import { audienceOf, logView, published, stateView } from './view.ts'

export type Prepared =
  /** Refused before execution: the document or the request is invalid. */
  | { kind: 'refused'; result: ExecutionResult }
  | { kind: 'result'; result: ExecutionResult }
  | { kind: 'log'; view: LogView; start: Start }
  | { kind: 'state'; view: StateView }

/** `lastEventId` is the last event that a reconnecting client received. It overrides the operation's own `after`. */
export type Prepare = (params: OperationParams, context: Context, lastEventId?: string | string[]) => Promise<Prepared>

const params = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  extensions: z.record(z.string(), z.unknown()).nullish(),
})
export type OperationParams = z.output<typeof params>

/** @throws VALIDATION_ERROR when the request itself is malformed; the message names the parameter. The document is not checked. */
export function parseParams(value: unknown): OperationParams {
  return parse(params, value)
}

/** Returns the operation type of a request, null when its document does not determine one. */
export type KindOf = (params: OperationParams) => 'query' | 'mutation' | 'subscription' | null

/** Returns the reason for which an operation with its variables must not be executed, null when it may be. */
export type RefuseOperation = (args: ExecutionArgs) => GraphQLError | null

export interface PrepareOptions {
  schema: GraphQLSchema
  documents: Documents
  refuseOperation?: RefuseOperation
}

/** Maximum characters of a subscription's document and variables, which stay in memory while it is followed. */
const maxFollowedLength = 16_384

export function createPrepare({ schema, documents, refuseOperation }: PrepareOptions): {
  prepare: Prepare
  kindOf: KindOf
} {
  const prepare: Prepare = async ({ query, operationName, variables }, caller, lastEventId) => {
    const { document, errors } = documents(query)
    if (!document || errors.length > 0) return refuse(errors)
    const definition = getOperationAST(document, operationName)
    if (!definition) return refuse([new GraphQLError('operationName: names no operation of the document')])
    const context = definition.operation === 'mutation' ? caller : { ...caller, idempotency: null }
    const args = { schema, document, operationName, variableValues: variables, contextValue: context }
    if (definition.operation === 'subscription' && query.length + JSON.stringify(variables ?? {}).length > maxFollowedLength) {
      return refuse([
        new GraphQLError(`query: must have at most ${maxFollowedLength} characters, variables included, in a subscription`),
      ])
    }
    const refusal = refuseOperation?.(args)
    if (refusal) return refuse([refusal])
    const operation = { schema, document, operationName, variables, context }
    if (definition.operation !== 'subscription') return { kind: 'result', result: await executeOperation(operation) }
    const followed = await createSourceEventStream(args)
    if ('errors' in followed) {
      // An error without a path is about the variables. `executeOperation` reports it by field, and stops before any resolver.
      const unfit = followed.errors?.some((error) => !error.path)
      return { kind: 'result', result: unfit ? await executeOperation(operation) : published(followed, context) }
    }
    const source = sourceOf(followed)
    if (!source) throw new Error(`the subscription ${definition.name?.value ?? ''} follows nothing`)
    const apart = { ...variables }
    const after = variableOfArgument(document, definition, 'after')
    if (after) delete apart[after]
    const key = JSON.stringify([query, operationName, Object.entries(apart).sort(), audienceOf(context.principal)])
    if (source.kind === 'state') return { kind: 'state', view: stateView(key, args, source) }
    try {
      const start = await beginning(context.app, context.principal.workspaceId, source.after, lastEventId)
      return { kind: 'log', view: logView(key, args, source), start }
    } catch (error) {
      if (codeOf(error) !== 'VALIDATION_ERROR') throw error
      return { kind: 'result', result: { errors: [error as GraphQLError] } }
    }
  }

  return {
    prepare,
    kindOf: ({ query, operationName }) => {
      const { document } = documents(query)
      return (document && getOperationAST(document, operationName)?.operation) ?? null
    },
  }
}

/** A document that cannot be executed is the caller's error. */
function refuse(errors: readonly GraphQLError[]): Prepared {
  return {
    kind: 'refused',
    result: {
      errors: errors.map(({ message, nodes, source, positions }) => {
        return new GraphQLError(message, { nodes, source, positions, extensions: { code: 'VALIDATION_ERROR' } })
      }),
    },
  }
}
