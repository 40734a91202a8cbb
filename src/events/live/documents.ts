// What a document says of the argument that a stream begins at.
import { type DocumentNode, type OperationDefinitionNode, visit } from 'graphql'
import { rootFields } from '../../core/graph/root-fields.ts'

/** The variable that feeds nothing but the argument `name` of an operation's root fields, so that it does not tell views apart. */
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
