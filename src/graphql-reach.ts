// Which keys a GraphQL operation is for, by what it selects.
import { type DocumentNode, type GraphQLSchema, parse } from 'graphql'
import type { Reach } from './billing/admit.ts'
import { maxTokens } from './core/documents.ts'
import { rootFields, scopesOf } from './core/root-fields.ts'

const reaches = new Map<string, Reach>()

/**
 * What an operation is about: `personal` as soon as one of its fields reads or changes what somebody pays for, `open` or
 * `account` where all of it is.
 */
export function reachOf(schema: GraphQLSchema, query: unknown): Reach {
  if (typeof query !== 'string') return 'workspace'
  const known = reaches.get(query)
  if (known) return known
  const reach = findReach(schema, query)
  if (query.length > 4_096) return reach
  if (reaches.size >= 1_000) reaches.delete(reaches.keys().next().value as string)
  reaches.set(query, reach)
  return reach
}

function findReach(schema: GraphQLSchema, query: string): Reach {
  const fields = { ...schema.getQueryType()?.getFields(), ...schema.getMutationType()?.getFields() }
  let document: DocumentNode
  try {
    document = parse(query, { maxTokens, noLocation: true })
  } catch {
    return 'workspace'
  }
  const names = document.definitions.flatMap((definition) =>
    definition.kind === 'OperationDefinition' ? rootFields(document, definition).map((field) => field.name.value) : [],
  )
  const scopes = names.map((name) => scopesOf(fields[name]))
  if (scopes.some(({ personal, payer }) => personal || payer)) return 'personal'
  const others = names.filter((name) => name !== 'plans' && !name.startsWith('__'))
  if (others.length === 0) return 'open'
  return others.every((name) => scopesOf(fields[name]).person) ? 'account' : 'workspace'
}
