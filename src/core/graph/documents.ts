// Cache of GraphQL documents, so that each is parsed and validated once.
import { type DocumentNode, GraphQLError, type ParseOptions, parse } from 'graphql'
import { fail } from '../errors.ts'

export interface CheckedDocument {
  document: DocumentNode | null
  /** Why the document cannot be executed; empty if it can. */
  errors: readonly GraphQLError[]
}

/** Checks GraphQL's own rules and the gateway's limits. */
export type ValidateDocument = (document: DocumentNode) => readonly GraphQLError[]

/** Returns the parsed and validated document of a text, from the cache if possible. */
export type Documents = (query: string) => CheckedDocument

const keptDocuments = 500
const maxKeptLength = 10_000
/** Most tokens of one document. */
export const maxTokens = 1_000
/** Most UTF-16 units of one document: the limit of tokens does not bound the length of a single token or comment. */
export const maxQueryLength = 262_144

/** Parses a document within these limits. @throws GraphQLError when the text is too long, has too many tokens or is malformed. */
export function parseDocument(query: string, options: ParseOptions = {}): DocumentNode {
  if (query.length > maxQueryLength) fail('VALIDATION_ERROR', `query: must have at most ${maxQueryLength} characters`)
  return parse(query, { ...options, maxTokens })
}

/** Creates a cache of checked documents that evicts the oldest first. Documents with errors are not cached. */
export function createDocuments(validate: ValidateDocument): Documents {
  const kept = new Map<string, CheckedDocument>()
  return (query) => {
    const known = kept.get(query)
    if (known) return known
    const checked = checkDocument(query, validate)
    if (checked.errors.length === 0 && query.length <= maxKeptLength) {
      if (kept.size >= keptDocuments) kept.delete(kept.keys().next().value as string)
      kept.set(query, checked)
    }
    return checked
  }
}

function checkDocument(query: string, validate: ValidateDocument): CheckedDocument {
  try {
    const document = parseDocument(query)
    return { document, errors: validate(document) }
  } catch (error) {
    return { document: null, errors: [error instanceof GraphQLError ? error : new GraphQLError('The document cannot be parsed')] }
  }
}
