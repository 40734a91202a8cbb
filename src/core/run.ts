// Runs documents: one that comes again and again is compiled, the others are interpreted.
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  type FieldNode,
  GraphQLError,
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

/** As `execute` of graphql-js, whose words for what does not fit it keeps. */
export async function runDocument(args: RunArgs): Promise<ExecutionResult> {
  const query = hasLongList(args.variableValues) ? null : compiledFor(args)
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

function compiledFor({ schema, document, operationName }: RunArgs): CompiledQuery['query'] | null {
  const operations = known.get(document) ?? new Map<string, Runs>()
  known.set(document, operations)
  const name = operationName ?? ''
  const runs = operations.get(name) ?? { count: 0 }
  operations.set(name, runs)
  if (runs.compiled !== undefined) return runs.compiled
  if (++runs.count < runsBeforeCompiling) return null
  const compiled = compileQuery(schema, document, operationName ?? '')
  runs.compiled = isCompiledQuery(compiled) ? compiled.query : null
  return runs.compiled
}
