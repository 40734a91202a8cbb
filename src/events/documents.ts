// GraphQL documents of streams, parsed and validated once each.
import { type DocumentNode, GraphQLError, type GraphQLSchema, parse, specifiedRules, validate, visit } from 'graphql'

export interface CheckedDocument {
  document: DocumentNode | null
  /** Why it cannot be executed. */
  errors: readonly GraphQLError[]
}

export type ValidateDocument = (document: DocumentNode) => readonly GraphQLError[]

const keptDocuments = 500
const maxKeptLength = 10_000
const maxTokens = 1_000

/** A cache of checked documents; the ones made first go first. `validateDocument` adds limits to GraphQL's own rules. */
export function createDocuments(schema: GraphQLSchema, validateDocument?: ValidateDocument): (query: string) => CheckedDocument {
  const check = validateDocument ?? ((document: DocumentNode) => validate(schema, document, specifiedRules))
  const kept = new Map<string, CheckedDocument>()
  return (query) => {
    const known = kept.get(query)
    if (known) return known
    const checked = checkDocument(query, check)
    if (checked.errors.length === 0 && query.length <= maxKeptLength) {
      if (kept.size >= keptDocuments) kept.delete(kept.keys().next().value as string)
      kept.set(query, checked)
    }
    return checked
  }
}

function checkDocument(query: string, check: ValidateDocument): CheckedDocument {
  try {
    const document = parse(query, { maxTokens })
    return { document, errors: check(document) }
  } catch (error) {
    return { document: null, errors: [error instanceof GraphQLError ? error : new GraphQLError('The document cannot be parsed')] }
  }
}

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
