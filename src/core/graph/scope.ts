// Authorization scope of a GraphQL operation, from its root fields.
import type { DocumentNode, GraphQLSchema } from 'graphql'
import { operationOf, type PreparedOperation, prepare, type Scope } from './prepared.ts'
import { rootFields, scopesOf } from './root-fields.ts'

/**
 * The scope of the operation that would run; other operations of the document do not count. `workspace` if no operation would run:
 * the fault is reported when it is executed.
 */
export function scopeOf(
  schema: GraphQLSchema,
  { query, operationName }: { query: string; operationName?: string | null },
): Scope {
  let document: DocumentNode
  try {
    document = prepare(query).document
  } catch {
    return 'workspace'
  }
  const operation = operationOf(document, operationName)
  if (!operation) return 'workspace'
  operation.scope ??= findScope(schema, document, operation)
  return operation.scope
}

function findScope(schema: GraphQLSchema, document: DocumentNode, { node }: PreparedOperation): Scope {
  const fields = schema.getRootType(node.operation)?.getFields() ?? {}
  const names = rootFields(document, node).map((field) => field.name.value)
  const others = names.filter((name) => name !== 'plans' && !name.startsWith('__'))
  if (others.length === 0) return 'open'
  const authScopes = others.map((name) => scopesOf(fields[name]))
  const aboutPayer = authScopes.some(({ personal, payer }) => personal || payer)
  const noWorkspace = authScopes.every(({ personal, payer, person }) => personal || payer || person)
  if (noWorkspace) return aboutPayer ? 'personal' : 'account'
  return aboutPayer ? 'both' : 'workspace'
}
