// What an operation can cost, counted from its document and variables before it runs: items, and bytes at the most.
import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type DocumentNode,
  type ExecutionArgs,
  type GraphQLField,
  type GraphQLNamedType,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isLeafType,
  isListType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql'
import { maxPageSize } from './pagination.ts'

/**
 * How many a list holds, as a field declares it in its `extensions`. A page: its size where neither `first` nor `last` says
 * one. Any other list: its bound, `items`. A list without a natural bound declares as `items` what it is taken for, and as
 * `most` what its resolver reads at the most; the budget of the running operation ends what was taken for too little.
 */
export interface Bound {
  page?: number
  items?: number
  most?: number
  /** The bytes of a value of the field, or of a row of its type, at the most; without it {@link bytesOf} guesses by the type. */
  bytes?: number
}

export interface Cost {
  depth: number
  breadth: number
  /** Fields of the answer, and items of its lists of plain values. */
  complexity: number
  /** Of the rows that are read and the answer that is made of them, at the most. */
  bytes: number
}

export type CountedArgs = Pick<ExecutionArgs, 'schema' | 'document' | 'operationName' | 'variableValues'>

type Field = Pick<GraphQLField<unknown, unknown>, 'name' | 'type' | 'extensions'>

/** Says which of the two is counted. */
interface Counting {
  counts: 'items' | 'bytes'
}

/** What a field costs: 1, and what is below a list as often as the list may have items. @throws for a list that declares no bound. */
export function fieldCost(
  { first, last }: Record<string, unknown>,
  context: object,
  field: Field,
): { field: number; multiplier: number } {
  const { counts } = context as Partial<Counting>
  const bound = boundOf(field, first ?? last, counts === 'bytes')
  const isLeaf = isLeafType(getNamedType(field.type))
  if (counts === 'bytes') return { field: bytesOf(field) * bound, multiplier: bound }
  return { field: isLeaf && isList(field) ? bound : 1, multiplier: bound }
}

function boundOf(field: Field, asked: unknown, atMost: boolean): number {
  const { page, items, most } = field.extensions as Bound
  if (typeof asked === 'number') return Math.min(Math.max(asked, 0), maxPageSize)
  const declared = page ?? (atMost ? most : undefined) ?? items
  if (declared !== undefined) return declared
  // Their number is that of the page.
  if (!isList(field) || field.name === 'edges' || field.name === 'nodes') return 1
  throw new Error(`the list ${field.name} declares no bound`)
}

function isList({ type }: Field): boolean {
  return isListType(getNullableType(type))
}

/** What is taken for the most where nothing is declared: of a row of a table, of another object, of a value. */
const guessed = { row: 20 * 1024, object: 1024, json: 20 * 1024, value: 256 }

/** The bytes of one row that is read for a field, or of its value. The rows of a page are counted where the page is asked for. */
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

/** For each document, by the variables that can make it cost more or less: sizes of pages, and what is included. */
const keptCosts = 100
const maxNameLength = 500
const costs = new WeakMap<DocumentNode, Map<string, Cost>>()

/** What an operation can cost with these variables; null where there is none, or where they do not fit. @throws what counting meets. */
export function costOf(args: CountedArgs): Cost | null {
  const known = costs.get(args.document) ?? new Map<string, Cost>()
  costs.set(args.document, known)
  const name = nameOf(args)
  const before = known.get(name)
  if (before !== undefined) return before
  const operation = getOperationAST(args.document, args.operationName)
  // Variables that do not fit are refused, by name, where they are coerced.
  const fits =
    operation &&
    !getVariableValues(args.schema, operation.variableDefinitions ?? [], args.variableValues ?? {}, { maxErrors: 1 }).errors
  if (!fits) return null
  const cost = countCost(args, operation)
  if (known.size < keptCosts && name.length <= maxNameLength) known.set(name, cost)
  return cost
}

/** Names what the cost depends on. A null counts too, which takes the place of a variable's default. */
function nameOf({ operationName, variableValues }: CountedArgs): string {
  let name = operationName ?? ''
  for (const variable in variableValues) {
    const value = variableValues[variable]
    if (value === null || typeof value === 'number' || typeof value === 'boolean') name += `\n${variable} ${value}`
  }
  return name
}

function countCost({ schema, document, variableValues }: CountedArgs, operation: OperationDefinitionNode): Cost {
  // Of several operations the first would be counted, whichever is to run.
  const definitions = [operation, ...document.definitions.filter(({ kind }) => kind === 'FragmentDefinition')]
  const variables = { ...variableValues }
  const count = (counts: Counting['counts']) =>
    complexityFromQuery({ ...document, definitions }, { schema, variables, ctx: { counts } satisfies Counting })
  return { ...count('items'), bytes: count('bytes').complexity }
}
