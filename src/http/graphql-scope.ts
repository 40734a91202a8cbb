// Determines the authorization scope of a GraphQL operation from its root fields.
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import type { Scope } from '../billing/admission/admit.ts'
import { parseDocument } from '../core/graph/documents.ts'
import { rootFields, scopesOf } from '../core/graph/root-fields.ts'

/** Scopes by operation name. A document with one operation has it under `undefined` too. */
type Scopes = ReadonlyMap<string | undefined, Scope>

const known = new Map<string, Scopes>()

/**
 * The scope of the operation that would run; other operations of the document do not count. `personal`: its fields concern the paying
 * account, or that and the person. `both`: it selects such fields and workspace fields. `open`: it selects only plans and introspection.
 * `account`: its fields concern the signed-in person alone. `workspace`: everything else, also if no operation would run.
 */
export function scopeOf(schema: GraphQLSchema, { query, operationName }: { query?: unknown; operationName?: unknown }): Scope {
  if (typeof query !== 'string') return 'workspace'
  const name = typeof operationName === 'string' && operationName !== '' ? operationName : undefined
  return operationScopes(schema, query).get(name) ?? 'workspace'
}

function operationScopes(schema: GraphQLSchema, query: string): Scopes {
  const before = known.get(query)
  if (before) return before
  const scopes = findScopes(schema, query)
  if (query.length > 4_096) return scopes
  if (known.size >= 1_000) known.delete(known.keys().next().value as string)
  known.set(query, scopes)
  return scopes
}

function findScopes(schema: GraphQLSchema, query: string): Scopes {
  let document: DocumentNode
  try {
    document = parseDocument(query, { noLocation: true })
  } catch {
    return new Map()
  }
  const operations = document.definitions.filter((definition) => definition.kind === 'OperationDefinition')
  const named = operations.map((one): [string | undefined, Scope] => [one.name?.value, findScope(schema, document, one)])
  return new Map(operations.length === 1 ? [...named, [undefined, named[0]?.[1] as Scope]] : named)
}

function findScope(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Scope {
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {}
  const names = rootFields(document, operation).map((field) => field.name.value)
  const others = names.filter((name) => name !== 'plans' && !name.startsWith('__'))
  if (others.length === 0) return 'open'
  const authScopes = others.map((name) => scopesOf(fields[name]))
  const aboutPayer = authScopes.some(({ personal, payer }) => personal || payer)
  const noWorkspace = authScopes.every(({ personal, payer, person }) => personal || payer || person)
  if (noWorkspace) return aboutPayer ? 'personal' : 'account'
  return aboutPayer ? 'both' : 'workspace'
}
