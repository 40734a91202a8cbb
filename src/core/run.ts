// Runs documents: one that comes again and again is compiled, the others are interpreted.
import { type DocumentNode, type ExecutionArgs, type ExecutionResult, execute } from 'graphql'
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit'

interface Runs {
  count: number
  /** Null for what cannot be compiled. */
  compiled?: CompiledQuery['query'] | null
}

/** Compiling costs as much as some tens of runs. */
const runsBeforeCompiling = 5
const known = new WeakMap<DocumentNode, Map<string, Runs>>()

type RunArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'>

/** As `execute` of graphql-js, whose words for what does not fit it keeps. */
export async function runDocument(args: RunArgs): Promise<ExecutionResult> {
  const query = compiledFor(args)
  if (!query) return await execute(args)
  const result = await query(undefined, args.contextValue, args.variableValues ?? {})
  // Without data nothing ran, and graphql-js says why.
  return result.data === undefined ? await execute(args) : result
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
