// Estimates the cost of an operation from its document and variables before it runs: items, and an upper bound of bytes.
import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type ExecutionArgs,
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  getVariableValues,
  isLeafType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql'
import { maxPageSize } from './pagination.ts'
import { type Cost, operationOf } from './prepared.ts'

/**
 * Size of a list, as a field declares it in its `extensions`. A page declares `page`, its size if neither `first` nor `last` is
 * given. Any other list declares its bound as `items`. A list without a natural bound declares an assumed size as `items` and the
 * most that its resolver reads as `most`; if the assumption is too low, the budget of the running operation ends it.
 */
export interface Bound {
  page?: number
  items?: number
  most?: number
  /** Upper bound of bytes of the field's value, or of a row of its type. Without it, {@link bytesOf} assumes one by type. */
  bytes?: number
}

export type CountedArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>

type Field = Pick<GraphQLField<unknown, unknown>, 'name' | 'type' | 'extensions'>

/** Selects the figure that is counted. */
interface Counting {
  counts: 'items' | 'bytes'
}

/**
 * Cost of a field: 1 for itself, and its children as often as its list may have items; a list of plain values costs its size.
 * @throws Error when a list declares no bound.
 */
export function fieldCost(
  { first, last }: Record<string, unknown>,
  context: object,
  field: Field,
): { field: number; multiplier: number } {
  const { counts } = context as Partial<Counting>
  const bound = boundOf(field, first ?? last, counts)
  const isLeaf = isLeafType(getNamedType(field.type))
  if (counts === 'bytes') return { field: bytesOf(field) * bound, multiplier: bound }
  return { field: isLeaf && isList(field) ? bound : 1, multiplier: bound }
}

function boundOf(field: Field, asked: unknown, counts: Counting['counts'] | undefined): number {
  const { page, items, most } = field.extensions as Bound
  if (typeof asked === 'number') return Math.min(Math.max(asked, 0), maxPageSize)
  const declared = page ?? (counts === 'bytes' ? most : undefined) ?? items
  if (declared !== undefined) return declared
  // The field of the connection has counted the page size already.
  if (!isList(field) || field.name === 'edges' || field.name === 'nodes') return 1
  throw new Error(`the list ${field.name} declares no bound`)
}

function isList({ type }: Field): boolean {
  return isListType(getNullableType(type))
}

/** Assumed upper bounds of bytes where none is declared, for a row of a table, another object, a JSON value and another value. */
const guessed = { row: 20 * 1024, object: 1024, json: 20 * 1024, value: 256 }

/** Bytes of one row that is read for a field, or of its value. The rows of a page are counted at the field of the connection. */
function bytesOf(field: Field): number {
  const type = getNamedType(field.type)
  const { bytes } = { ...type.extensions, ...field.extensions } as Bound
  if (isLeafType(type)) return bytes ?? (type.name === 'JSON' ? guessed.json : guessed.value)
  const items = isObjectType(type) && type.name.endsWith('Connection') ? type.getFields().nodes : undefined
  if (items) return bytesOfObject(getNamedType(items.type))
  return ['edges', 'nodes', 'node', 'pageInfo'].includes(field.name) ? 0 : bytesOfObject(type)
}

function bytesOfObject({ extensions }: GraphQLNamedType): number {
  const { bytes, pothosPrismaModel } = extensions as Bound & { pothosPrismaModel?: string }
  return bytes ?? (pothosPrismaModel ? guessed.row : guessed.object)
}

/** Costs kept for an operation, by the variables that change them: page sizes and conditions of inclusion. */
const keptCosts = 100
const maxKeyLength = 500

/**
 * Returns the cost of an operation with these variables; null if the operation does not exist or the variables do not fit.
 * @throws Error when the cost cannot be counted.
 */
export function costOf(args: CountedArgs): Cost | null {
  const operation = operationOf(args.document, args.operationName)
  if (!operation) return null
  const { node, costs } = operation
  const key = keyOf(node, args)
  const before = costs.get(key)
  if (before !== undefined) return before
  const { errors } = getVariableValues(args.schema, node.variableDefinitions ?? [], args.variableValues ?? {}, { maxErrors: 1 })
  // Variables that do not fit are refused by name when they are coerced.
  if (errors) return null
  const cost = countCost(args, node)
  if (costs.size < keptCosts && key.length <= maxKeyLength) costs.set(key, cost)
  return cost
}

/**
 * Key of everything that the cost depends on. A null is included, because it replaces the default of a variable. Other names than those of the
 * operation's variables change nothing, and one with a line break in it could make the key of other variables.
 */
function keyOf({ variableDefinitions }: OperationDefinitionNode, { variableValues }: CountedArgs): string {
  let key = ''
  for (const { variable } of variableDefinitions ?? []) {
    const value = variableValues?.[variable.name.value]
    if (value === null || typeof value === 'number' || typeof value === 'boolean') key += `\n${variable.name.value} ${value}`
  }
  return key
}

function countCost({ schema, document, variableValues }: CountedArgs, operation: OperationDefinitionNode): Cost {
  // With several operations, the first would be counted, even if another one runs.
  const definitions = [operation, ...document.definitions.filter(({ kind }) => kind === 'FragmentDefinition')]
  const variables = { ...variableValues }
  const count = (counts: Counting['counts']) =>
    complexityFromQuery({ ...document, definitions }, { schema, variables, ctx: { counts } satisfies Counting })
  return { ...count('items'), bytes: count('bytes').complexity }
}
