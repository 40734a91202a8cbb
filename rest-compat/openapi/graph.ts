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
import { type ErrorCode, errors } from '../../src/core/errors.ts'

export interface AskedField {
  /** For example `sendMessage`, or `instanceState` for the path `instance { state }`. */
  name: string
  description: string
  errors: ErrorCode[]
  type: GraphQLOutputType
  /** The definition of an argument, or of a field of the `filter` argument. */
  argument: (name: string) => { description?: string | null; type: GraphQLInputType } | undefined
}

/** Follows a document from its root through single selections, to the first field with several selected fields. */
export function askedField(graph: GraphQLSchema, document: DocumentNode): AskedField {
  const path = pathOf(graph, document)
  const last = path.at(-1) as GraphQLField<unknown, unknown>
  const args = path.flatMap((field) => field.args)
  const filter = args.find(({ name }) => name === 'filter')?.type
  const filterFields = filter && getNamedType(filter)
  return {
    name: path.map(({ name }, i) => (i === 0 ? name : name.charAt(0).toUpperCase() + name.slice(1))).join(''),
    description: withoutErrors(last.description ?? ''),
    errors: path.flatMap(({ description }) => errorsIn(description)),
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

/** Parses the error codes at the end of a field description: `Errors: NOT_FOUND, INVALID_STATE (disabled).` */
function errorsIn(description: string | null | undefined): ErrorCode[] {
  const [, told = ''] = description?.match(/Errors: (.*)$/s) ?? []
  const codes: string[] = told.match(/[A-Z]+(_[A-Z]+)*/g) ?? []
  return codes.filter((code): code is ErrorCode => Object.hasOwn(errors, code))
}

/** Removes the error codes, because the OpenAPI document lists them separately. */
function withoutErrors(description: string): string {
  return description.replace(/ ?Errors: .*$/s, '')
}
