// What a document says of the argument that a stream begins at.
import { type DocumentNode, visit } from 'graphql'

/** The variable that feeds nothing but the argument `name` of a document's root fields, so that it does not tell views apart. */
export function variableOfArgument(document: DocumentNode, name: string): string | undefined {
  let found: string | undefined
  const uses = new Map<string, number>()
  visit(document, {
    VariableDefinition: () => false,
    Argument(node) {
      if (node.name.value === name && node.value.kind === 'Variable') found ??= node.value.name.value
    },
    Variable(node) {
      uses.set(node.name.value, (uses.get(node.name.value) ?? 0) + 1)
    },
  })
  return found && uses.get(found) === 1 ? found : undefined
}
