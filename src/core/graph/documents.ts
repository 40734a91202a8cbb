// GraphQL documents, parsed and validated once each.
import { type DocumentNode, GraphQLError, type ParseOptions, parse } from 'graphql'
import { fail } from '../errors.ts'

export interface CheckedDocument {
  document: DocumentNode | null
  /** Why it cannot be executed. */
  errors: readonly GraphQLError[]
}

/** GraphQL's own rules and the gateway's limits. */
export type ValidateDocument = (document: DocumentNode) => readonly GraphQLError[]

/** Parses and validates the text of a document, or knows it already. */
export type Documents = (query: string) => CheckedDocument

const keptDocuments = 500
const maxKeptLength = 10_000
/** The most tokens of one document. */
export const maxTokens = 1_000
/** The most UTF-16 units of one document: a token, or a comment, has no length of its own that it may not pass. */
export const maxQueryLength = 262_144

/** Parses the text of a document within the limits of a document. @throws GraphQLError. */
export function parseDocument(query: string, options: ParseOptions = {}): DocumentNode {
  if (query.length > maxQueryLength) fail('VALIDATION_ERROR', `query: must have at most ${maxQueryLength} characters`)
  return parse(query, { ...options, maxTokens })
}

/** A cache of checked documents; the ones made first go first. What is wrong is checked again each time. */
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
