// Reads from the GraphQL schema the field that a route selects: name, description, errors, type, arguments.
import {
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import type { ErrorCode } from '../../src/core/errors.ts'

export interface SelectedField {
  /** For example `sendMessage`, or `instanceState` for the path `instance { state }`. */
  name: string
  description: string
  errors: ErrorCode[]
  type: GraphQLOutputType
  /** The definition of an argument, or of a field of the `filter` argument. */
  argument: (name: string) => { description?: string | null; type: GraphQLInputType } | undefined
}

/** Follows a document from its root through single selections, to the first field with several selected fields. */
export function selectedField(graph: GraphQLSchema, document: DocumentNode): SelectedField {
  const path = pathOf(graph, document)
  const last = path.at(-1) as GraphQLField<unknown, unknown>
  const args = path.flatMap((field) => field.args)
  const filter = args.find(({ name }) => name === 'filter')?.type
  const filterFields = filter && getNamedType(filter)
  return {
    name: path.map(({ name }, i) => (i === 0 ? name : name.charAt(0).toUpperCase() + name.slice(1))).join(''),
    description: documented(last).description,
    errors: path.flatMap((field) => documented(field).errors),
    type: last.type,
    argument: (name) =>
      args.find((arg) => arg.name === name) ?? (isInputObjectType(filterFields) ? filterFields.getFields()[name] : undefined),
  }
}

function pathOf(graph: GraphQLSchema, document: DocumentNode): GraphQLField<unknown, unknown>[] {
  const operation = getOperationAST(document)
  if (!operation) throw new Error('A row needs a document with one operation')
  const path: GraphQLField<unknown, unknown>[] = []
  let type = graph.getRootType(operation.operation)
  for (let next: SelectionSetNode | undefined = operation.selectionSet; isObjectType(type) && next?.selections.length === 1; ) {
    const selection: SelectionNode | undefined = next.selections[0]
    if (selection?.kind !== Kind.FIELD || !selection.selectionSet) break
    const field: GraphQLField<unknown, unknown> | undefined = type.getFields()[selection.name.value]
    if (!field) break
    path.push(field)
    next = selection.selectionSet
    const named = getNamedType(field.type)
    type = isObjectType(named) ? named : null
  }
  return path
}

/** Its description and its errors; the plugin in src/core/graph/field-errors.ts keeps them apart where there are errors. */
function documented({ description, extensions }: GraphQLField<unknown, unknown>): { description: string; errors: ErrorCode[] } {
  const { documented } = extensions as { documented?: { description: string; errors: ErrorCode[] } }
  return documented ?? { description: description ?? '', errors: [] }
}
