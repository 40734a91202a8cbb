// Finds the variable in a GraphQL document that holds the start of a stream.
import { type DocumentNode, type OperationDefinitionNode, visit } from 'graphql'
import { rootFields } from '../../core/graph/root-fields.ts'

/**
 * Returns the variable that is used for the argument `name` of the root fields and nowhere else. Views that differ only in it can be
 * shared.
 */
export function variableOfArgument(document: DocumentNode, operation: OperationDefinitionNode, name: string): string | undefined {
  const given = rootFields(document, operation).flatMap((field) => field.arguments ?? [])
  const value = given.find((argument) => argument.name.value === name)?.value
  if (value?.kind !== 'Variable') return undefined
  let uses = 0
  visit(document, {
    VariableDefinition: () => false,
    Variable(node) {
      if (node.name.value === value.name.value) uses++
    },
  })
  return uses === 1 ? value.name.value : undefined
}
