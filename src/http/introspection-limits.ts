// Limits GraphQL introspection: once per operation, and only slightly more fields than tools ask for. Cost analysis does not cover it.
import {
  type ASTVisitor,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isObjectType,
  isWrappingType,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql'
import { failure } from '../core/errors.ts'

/** Validation rule: an operation may contain one introspection field (`__schema` or `__type`), with at most `most` fields below it. */
export function introspectOnce(most: number): (context: ValidationContext) => ASTVisitor {
  return (context) => ({
    OperationDefinition({ selectionSet }) {
      const fragments = new Map(
        context.getDocument().definitions.flatMap((one) => (one.kind === 'FragmentDefinition' ? [[one.name.value, one]] : [])),
      )
      const { times, fields } = countOf(context.getSchema(), selectionSet, fragments)
      if (times > 1) context.reportError(failure('VALIDATION_ERROR', 'A request may query the schema only once'))
      else if (fields > most) {
        const message = `The query's complexity is ${fields}, caused by its introspection; at most ${most} is allowed`
        context.reportError(failure('VALIDATION_ERROR', message))
      }
      return false
    },
  })
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>
/** Length of each list of the schema: the average over all types, and the maximum. */
type Sizes = Readonly<Record<string, { average: number; most: number }>>

interface Figures {
  sizes: Sizes
  /** Most wrappers around a type: `[Item!]!` has three. Below them, `ofType` is null. */
  wrappers: number
}

interface Counted extends Figures {
  fragments: Fragments
  known: Map<string, number>
}

function countOf(schema: GraphQLSchema, root: SelectionSetNode, fragments: Fragments): { times: number; fields: number } {
  const counted: Counted = { ...figuresOf(schema), fragments, known: new Map() }
  const selections = [...introspectionsIn(root, fragments, new Set())]
  const fields = selections.reduce((sum, selection) => sum + fieldsOf(selection, 'most', 0, counted), 0)
  return { times: selections.length, fields }
}

/** The selections of the fields `__schema` and `__type`. A fragment counts once, however often it is spread. */
function* introspectionsIn(
  { selections }: SelectionSetNode,
  fragments: Fragments,
  seen: Set<string>,
): Generator<SelectionSetNode> {
  for (const selection of selections) {
    if (selection.kind === 'InlineFragment') yield* introspectionsIn(selection.selectionSet, fragments, seen)
    else if (selection.kind === 'FragmentSpread') {
      const { value: name } = selection.name
      const fragment = seen.has(name) ? undefined : fragments.get(name)
      seen.add(name)
      if (fragment) yield* introspectionsIn(fragment.selectionSet, fragments, seen)
    } else if (/^__(schema|type)$/.test(selection.name.value) && selection.selectionSet) yield selection.selectionSet
  }
}

/**
 * Counts the fields below a selection. Below `types`, lists count with their average length until the selection leads to another type.
 * `depth` is the number of fields `ofType` that lead here without another field between them.
 */
function fieldsOf(set: SelectionSetNode, size: 'average' | 'most', depth: number, counted: Counted): number {
  const { sizes, wrappers, fragments, known } = counted
  const ofFragment = (fragmentName: string): number => {
    const name = `${fragmentName} ${size} ${depth}`
    const before = known.get(name)
    if (before !== undefined) return before
    // A fragment cycle counts as 0. Another rule refuses it.
    known.set(name, 0)
    const fragment = fragments.get(fragmentName)
    const count = fragment ? fieldsOf(fragment.selectionSet, size, depth, counted) : 0
    known.set(name, count)
    return count
  }
  const ofField = ({ name: { value: name }, selectionSet }: FieldNode): number => {
    const below = name === 'ofType' ? depth + 1 : 0
    if (!selectionSet || below > wrappers) return 1
    const next = name === 'types' ? 'average' : name.toLowerCase().endsWith('type') ? 'most' : size
    return Math.ceil((sizes[name]?.[size] ?? 1) * (1 + fieldsOf(selectionSet, next, below, counted)))
  }
  let total = 0
  for (const selection of set.selections) {
    if (selection.kind === 'InlineFragment') total += fieldsOf(selection.selectionSet, size, depth, counted)
    else if (selection.kind === 'FragmentSpread') total += ofFragment(selection.name.value)
    else total += ofField(selection)
  }
  return total
}

const figures = new WeakMap<GraphQLSchema, Figures>()

function figuresOf(schema: GraphQLSchema): Figures {
  const known = figures.get(schema) ?? { sizes: sizesOf(schema), wrappers: wrappersIn(schema) }
  figures.set(schema, known)
  return known
}

function wrappersIn(schema: GraphQLSchema): number {
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    'getFields' in type ? Object.values(type.getFields()) : [],
  )
  return Math.max(
    ...fields.flatMap((field) => [field, ...('args' in field ? field.args : [])]).map(({ type }) => wrappersOf(type)),
  )
}

function wrappersOf(type: GraphQLType): number {
  return isWrappingType(type) ? 1 + wrappersOf(type.ofType) : 0
}

function sizesOf(schema: GraphQLSchema): Sizes {
  const types = Object.values(schema.getTypeMap())
  const fields = types.flatMap((type) => (isObjectType(type) ? [Object.values(type.getFields())] : []))
  const inputs = types.flatMap((type) => (isInputObjectType(type) ? [Object.values(type.getFields())] : []))
  const values = types.flatMap((type) => (isEnumType(type) ? [type.getValues()] : []))
  const args = fields.flat().map((field) => field.args)
  const sizeOf = (lists: readonly (readonly unknown[])[], owners: number) => ({
    average: lists.flat().length / owners,
    most: Math.max(...lists.map((list) => list.length)),
  })
  return {
    types: { average: types.length, most: types.length },
    fields: sizeOf(fields, types.length),
    inputFields: sizeOf(inputs, types.length),
    enumValues: sizeOf(values, types.length),
    args: sizeOf(args, args.length),
    directives: { average: schema.getDirectives().length, most: schema.getDirectives().length },
  }
}
