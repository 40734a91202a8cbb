// Runs documents: one that comes again and again is compiled, the others are interpreted.
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type FieldNode,
  GraphQLError,
  getOperationAST,
  type TypeNode,
  type ValueNode,
  visit,
} from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'

interface Runs {
  count: number
  /** Null for what cannot be compiled. */
  compiled?: CompiledQuery['query'] | null
}

/** Compiling costs as much as some tens of runs. */
const runsBeforeCompiling = 5
const known = new WeakMap<DocumentNode, Map<string, Runs>>()

/** A longer list in the variables is for graphql-js, which stops at the 50th item that does not fit; compiled, each becomes an error. */
const longList = 1_000

type RunArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'>

/**
 * As `execute` of graphql-js, whose words for what does not fit it keeps. What may be large is interpreted: compiled, an
 * operation whose budget is spent goes on to its last item, with an error for each.
 */
export async function runDocument(args: RunArgs, mayBeLarge = false): Promise<ExecutionResult> {
  const query = mayBeLarge || hasLongList(args.variableValues) || hasStrayList(args) ? null : compiledFor(args)
  if (!query) return await execute(args)
  const result = await query(undefined, args.contextValue, args.variableValues ?? {})
  // Without data nothing ran, and graphql-js says why.
  if (result.data === undefined) return await execute(args)
  return result.errors ? { errors: withNodes(args.document, result.errors), data: result.data } : result
}

/** graphql-jit knows lines and columns; whoever reads an error of graphql-js looks for its nodes. */
function withNodes(document: DocumentNode, errors: readonly GraphQLError[]): GraphQLError[] {
  const fields = new Map<string, FieldNode>()
  visit(document, {
    Field(node) {
      if (node.loc) fields.set(`${node.loc.startToken.line}:${node.loc.startToken.column}`, node)
    },
  })
  return errors.map(({ message, locations = [], path, originalError, extensions }) => {
    const nodes = locations.flatMap(({ line, column }) => fields.get(`${line}:${column}`) ?? [])
    return new GraphQLError(message, { nodes, path, originalError, extensions })
  })
}

/** Whether a variable, or a field of one, is a long list. */
function hasLongList(variables: Readonly<Record<string, unknown>> | null | undefined): boolean {
  const isLong = (value: unknown) => Array.isArray(value) && value.length > longList
  return Object.values(variables ?? {}).some((value) => {
    return (
      isLong(value) || (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).some(isLong))
    )
  })
}

/** Whether a list stands where none belongs; compiled, it would pass for an object. */
function hasStrayList({ document, operationName, variableValues }: RunArgs): boolean {
  const lists = Object.entries(variableValues ?? {}).filter(([, value]) => Array.isArray(value))
  if (lists.length === 0) return false
  const isList = (type: TypeNode): boolean => type.kind === 'ListType' || (type.kind === 'NonNullType' && isList(type.type))
  const definitions = getOperationAST(document, operationName)?.variableDefinitions ?? []
  return definitions.some(({ variable, type }) => lists.some(([name]) => name === variable.name.value) && !isList(type))
}

/**
 * Whether a document means the same compiled. graphql-jit takes a variable that was left out of a written object for null,
 * which would clear what should stay, and loses one in a written JSON value; of a fragment that is spread twice it knows the
 * directives of the first place only.
 */
function isCompilable(document: DocumentNode): boolean {
  let writesVariables = false
  let hasDirectives = false
  let spreads = false
  const note = (value: ValueNode) => {
    if (value.kind === 'Variable') writesVariables = true
  }
  visit(document, {
    ObjectField: ({ value }) => note(value),
    ListValue: ({ values }) => values.forEach(note),
    Directive() {
      hasDirectives = true
    },
    FragmentSpread() {
      spreads = true
    },
  })
  return !writesVariables && !(hasDirectives && spreads)
}

function compiledFor({ schema, document, operationName }: RunArgs): CompiledQuery['query'] | null {
  const operations = known.get(document) ?? new Map<string, Runs>()
  known.set(document, operations)
  const name = operationName ?? ''
  const runs = operations.get(name) ?? { count: 0 }
  operations.set(name, runs)
  if (runs.compiled !== undefined) return runs.compiled
  if (++runs.count < runsBeforeCompiling) return null
  const compiled = isCompilable(document) ? compileQuery(schema, document, operationName ?? '') : null
  runs.compiled = compiled && isCompiledQuery(compiled) ? compiled.query : null
  return runs.compiled
}
