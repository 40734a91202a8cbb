// Compiled execution (graphql-jit) of repeated queries. It compiles only documents that have the same meaning in both executors,
// and graphql-js executes every query again whose compiled result has errors. `npm run bench -- list`: 1.3 to 1.6 x PostGraphile
// with it, 1.2 x without.
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getNullableType,
  isLeafType,
  type OperationDefinitionNode,
  type TypeNode,
  typeFromAST,
  visit,
} from 'graphql'
import { type CompiledRun, operationOf } from './prepared.ts'

/** Compiling takes as long as some tens of executions. graphql-jit loads with the first one, because it is 9 % of a start. */
const runsBeforeCompiling = 5

type Args = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues' | 'contextValue'>

/** Executes a compiled query. Null if the operation is not compiled or its result has errors: a query changes nothing and can run again. */
export async function executeCompiled(args: Args): Promise<ExecutionResult | null> {
  const operation = operationOf(args.document, args.operationName)
  if (!operation) return null
  const { node, compiled } = operation
  if (++compiled.runs === runsBeforeCompiling) compiled.query = await compile(args, node)
  const result: ExecutionResult | undefined = await compiled.query?.(undefined, args.contextValue, args.variableValues ?? {})
  return result?.data && !result.errors ? result : null
}

async function compile({ schema, document, operationName }: Args, node: OperationDefinitionNode): Promise<CompiledRun['query']> {
  const isLeaf = (type: TypeNode) => isLeafType(getNullableType(typeFromAST(schema, type)))
  const isPlain = node.operation === 'query' && node.variableDefinitions?.every(({ type }) => isLeaf(type))
  if (!isPlain || hasOwnMeaning(document)) return null
  const { compileQuery, isCompiledQuery } = await import('graphql-jit')
  const compiled = compileQuery(schema, document, operationName ?? '')
  return isCompiledQuery(compiled) ? compiled.query : null
}

/** True if graphql-jit executes a part of the document differently: a variable inside a literal, a directive, a fragment spread twice. */
function hasOwnMeaning(document: DocumentNode): boolean {
  let found = false
  const spread = new Set<string>()
  const note = ({ kind }: { kind: string }) => {
    found ||= kind === 'Variable' || kind === 'Directive'
  }
  visit(document, {
    ObjectField: ({ value }) => note(value),
    ListValue: ({ values }) => values.forEach(note),
    Directive: note,
    FragmentSpread({ name }) {
      found ||= spread.has(name.value)
      spread.add(name.value)
    },
  })
  return found
}
