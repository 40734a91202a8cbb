// Prepared operations: a document is parsed and validated once, and its operations keep what was found out about them (bounded
// cache). Every GraphQL request, REST route and stream takes its operations from here.
import { type DocumentNode, type GraphQLError, getOperationAST, type OperationDefinitionNode, parse } from 'graphql'
import type { CompiledQuery } from 'graphql-jit'
import { fail } from '../errors.ts'
import type { KeyAccess } from '../principal.ts'

/** A document that was sent as text. */
export interface Prepared {
  document: DocumentNode
  /** Faults by GraphQL's rules and by the gateway's limits; null before it is validated. */
  faults: readonly GraphQLError[] | null
}

/**
 * The data that an operation concerns. `personal`: the paying account, or that and the person. `both`: the paying account and a workspace.
 * `open`: plans and introspection only. `account`: the signed-in person alone. `workspace`: everything else.
 */
export type Scope = 'workspace' | 'personal' | 'both' | 'open' | 'account'

export interface Cost {
  depth: number
  breadth: number
  /** Fields of the answer, and items of its lists of plain values. */
  complexity: number
  /** Upper bound of bytes of the rows that are read and of the answer made of them. */
  bytes: number
}

/** How often an operation ran, and its compiled form if it has one. */
export interface CompiledRun {
  runs: number
  query: CompiledQuery['query'] | null
}

/** An operation of a document, with the results of earlier requests. */
export interface PreparedOperation {
  node: OperationDefinitionNode
  /** Filled by `scopeOf` in scope.ts. */
  scope: Scope | null
  /** The access that a key needs; filled by `accessOf` in http/key-access.ts. */
  access: readonly KeyAccess[] | null
  /** By the variables that change them; filled by `costOf` in cost.ts. */
  costs: Map<string, Cost>
  /** Filled by `executeCompiled` in compiled.ts. */
  compiled: CompiledRun
}

/** Documents that the cache holds, and the longest of them, in UTF-16 units. */
const keptDocuments = 500
const maxKeptLength = 10_000
/** Most tokens of one document. */
export const maxTokens = 1_000
/** Most UTF-16 units of one document: the limit of tokens does not bound the length of a single token or comment. */
export const maxQueryLength = 262_144
/** Most lines of one document. Every error counts them up to its place: 100 errors behind 261,000 line breaks took five seconds. */
export const maxLines = 2_000

const kept = new Map<string, Prepared>()

/**
 * Parses a document, or returns it from the cache.
 * @throws GraphQLError when the text is too long, has too many lines or tokens, or is malformed.
 */
export function prepare(text: string): Prepared {
  const known = kept.get(text)
  if (known) return known
  if (text.length > maxQueryLength) fail('VALIDATION_ERROR', `query: must have at most ${maxQueryLength} characters`)
  if (hasMoreLines(text)) fail('VALIDATION_ERROR', `query: must have at most ${maxLines} lines`)
  const prepared: Prepared = { document: parse(text, { maxTokens }), faults: null }
  if (text.length > maxKeptLength) return prepared
  if (kept.size >= keptDocuments) kept.delete(kept.keys().next().value as string)
  kept.set(text, prepared)
  return prepared
}

/** Counts the line breaks of GraphQL. */
function hasMoreLines(text: string): boolean {
  const breaks = /\r\n|[\n\r]/g
  let lines = 1
  while (lines <= maxLines && breaks.test(text)) lines++
  return lines > maxLines
}

const operations = new WeakMap<DocumentNode, Map<string | null, PreparedOperation>>()

/** Returns the operation of a document that would run under this name; null if the document does not determine one. */
export function operationOf(document: DocumentNode, operationName?: string | null): PreparedOperation | null {
  let known = operations.get(document)
  if (!known) {
    known = new Map()
    operations.set(document, known)
  }
  const name = operationName ?? null
  const before = known.get(name)
  if (before) return before
  const node = getOperationAST(document, operationName)
  if (!node) return null
  const operation = { node, scope: null, access: null, costs: new Map(), compiled: { runs: 0, query: null } }
  known.set(name, operation)
  return operation
}
