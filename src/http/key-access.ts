// Permissions of API keys by their access. Only these tables define them.
import type { FastifyRequest } from 'fastify'
import type { DocumentNode, OperationTypeNode } from 'graphql'
import type { GraphqlParams } from '../core/graph/graph.ts'
import { operationOf, prepare } from '../core/graph/prepared.ts'
import { rootFields } from '../core/graph/root-fields.ts'
import { paramsOf } from '../core/http/graphql-request.ts'
import type { KeyAccess } from '../core/principal.ts'

export const everyAccess: readonly KeyAccess[] = ['full', 'send', 'read']
/** The access that a stream of events needs. */
export const streamAccess: readonly KeyAccess[] = ['full', 'read']

/** The root fields for `send`. Fields of related records are allowed too. */
const forSend: Record<OperationTypeNode, readonly string[]> = {
  query: ['history', 'instance', 'instances', 'media', 'message', 'messages', 'previewMessage', 'template', 'templates'],
  mutation: ['cancelMessage', 'lookupNumbers', 'previewTemplate', 'scheduleMessage', 'sendMessage', 'sendMessages'],
  subscription: [],
}

/** `read` has every query and subscription, and the mutations that change nothing. */
const mutationsForRead: readonly string[] = ['previewTemplate']

/** Routes of files that `send` may use, by operation id. `read` may use every one that only reads. */
const filesForSend: readonly string[] = ['uploadMedia', 'downloadMedia']

/** The access that a root field needs: a key with any of these may use it. */
export function accessOfField(operation: OperationTypeNode, field: string): readonly KeyAccess[] {
  const isRead = operation !== 'mutation' || mutationsForRead.includes(field)
  return everyAccess.filter((access) => {
    if (access === 'full' || field.startsWith('__')) return true
    return access === 'send' ? forSend[operation].includes(field) : isRead
  })
}

/** The access that an operation needs. A document without that operation is open to all: the fault is reported when it is executed. */
function accessOf(document: DocumentNode, operationName?: string | null): readonly KeyAccess[] {
  const operation = operationOf(document, operationName)
  if (!operation) return everyAccess
  const { node } = operation
  operation.access ??= rootFields(document, node)
    .map((field) => accessOfField(node.operation, field.name.value))
    .reduce((all, some) => all.filter((access) => some.includes(access)), everyAccess)
  return operation.access
}

/** {@link accessOf} for a GraphQL request. */
export function accessOfRequest({ query, operationName }: GraphqlParams): readonly KeyAccess[] {
  let document: DocumentNode
  try {
    document = prepare(query).document
  } catch {
    return everyAccess
  }
  return accessOf(document, operationName)
}

/** The access that a REST route needs. A route that is refused to everybody is open to all, because that error comes first. */
export function accessOfRoute(
  route: { document: DocumentNode } | { transfer: string; method: string; operationId: string } | { refuse: string },
): readonly KeyAccess[] {
  if ('document' in route) return accessOf(route.document)
  if ('refuse' in route) return everyAccess
  return everyAccess.filter((access) => {
    if (access === 'read') return route.method === 'GET'
    return access === 'full' || filesForSend.includes(route.operationId)
  })
}

/**
 * The access that a request to `/graphql/stream` needs: that of its operation, or that of a stream if it has none, such as one that
 * reserves a connection.
 */
export function accessOnStream(request: FastifyRequest): readonly KeyAccess[] {
  let params: GraphqlParams
  try {
    params = paramsOf(request)
  } catch {
    return streamAccess
  }
  return accessOfRequest(params)
}
