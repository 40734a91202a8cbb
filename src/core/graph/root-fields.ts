// Root fields of an operation, and the scopes that they require.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'

/** Returns the fields that an operation selects at its root, including those of fragments. */
export function rootFields(document: DocumentNode, operation: OperationDefinitionNode): FieldNode[] {
  const seen = new Set<string>()
  const fieldsOf = ({ selections }: SelectionSetNode): FieldNode[] =>
    selections.flatMap((selection) => {
      if (selection.kind === 'Field') return [selection]
      if (selection.kind === 'InlineFragment') return fieldsOf(selection.selectionSet)
      const name = selection.name.value
      if (seen.has(name)) return []
      seen.add(name)
      const fragment = document.definitions.find((item) => item.kind === 'FragmentDefinition' && item.name.value === name)
      return fragment?.kind === 'FragmentDefinition' ? fieldsOf(fragment.selectionSet) : []
    })
  return fieldsOf(operation.selectionSet)
}

/** Returns the scopes that a field declares (`authScopes`); none for a field that does not exist. */
export function scopesOf(field: GraphQLField<unknown, unknown> | undefined): {
  active?: boolean
  personal?: boolean
  person?: boolean
  payer?: boolean
} {
  type Scopes = ReturnType<typeof scopesOf>
  const options = field?.extensions.pothosOptions as { authScopes?: Scopes & { $all?: Scopes } } | undefined
  return { ...options?.authScopes, ...options?.authScopes?.$all }
}

/** True if an operation creates or sends, which requires a usable subscription. */
export function needsActive(schema: GraphQLSchema, document: DocumentNode, operationName?: string | null): boolean {
  const operation = getOperationAST(document, operationName)
  if (!operation) return false
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {}
  return rootFields(document, operation).some(({ name }) => scopesOf(fields[name.value]).active === true)
}
