// Finds the part of a table that a GraphQL selection needs: its columns, and the to-one relations to join.
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql'
import type { Table } from './table.ts'

/** The part of a table to read. Both lists have the table's own order, so that equal selections share a statement. */
export interface Selection {
  columns: readonly string[]
  relations: Readonly<Record<string, Selection>>
}

/** Paths from a connection to the rows of its page. */
const pagePaths = [['edges', 'node'], ['nodes']]

const selections = new WeakMap<FieldNode, Selection>()

/**
 * The part of `table` that the page of a connection needs, plus the columns `always`, which must be the same on each call for a field. A
 * field's columns are known if it has `extensions.columns`, is an exposed column, or is a relation of the table. If those of any field are
 * unknown, all columns and no relations are returned; a relation with such a field is left out. A loader reads the relations that are not in
 * the result.
 */
export function selectionOf(info: GraphQLResolveInfo, table: Table, always: readonly string[]): Selection {
  const [node, ...others] = info.fieldNodes
  if (!node || others.length > 0) return find(info, table, always)
  const known = selections.get(node)
  if (known) return known
  const selection = find(info, table, always)
  selections.set(node, selection)
  return selection
}

/** As SQL: the columns of `alias` that the page of a connection needs, plus the columns `always`. */
export function columnsOf(info: GraphQLResolveInfo, table: Table, always: readonly string[], alias: string): string {
  return selectionOf(info, table, always)
    .columns.map((column) => `${alias}."${column}"`)
    .join(', ')
}

type Fields = Map<string, FieldNode[]>

function find(info: GraphQLResolveInfo, table: Table, always: readonly string[]): Selection {
  const found: Fields = new Map()
  let type = objectOf(info.returnType)
  for (const path of pagePaths) {
    let at = { nodes: [...info.fieldNodes], type: objectOf(info.returnType) }
    for (const name of path)
      at = { nodes: fieldsOf(info, at.nodes).get(name) ?? [], type: objectOf(at.type.getFields()[name]?.type) }
    for (const [name, nodes] of fieldsOf(info, at.nodes)) found.set(name, [...(found.get(name) ?? []), ...nodes])
    type = at.type
  }
  return select(info, type, table, found, always) ?? { columns: table.columns, relations: {} }
}

function objectOf(type: GraphQLOutputType | undefined): GraphQLObjectType {
  const named = type && getNamedType(type)
  if (!isObjectType(named)) throw new Error('only objects have columns')
  return named
}

/** Returns the fields below nodes, ignoring directives: an unnecessary column does no harm. */
function fieldsOf(info: GraphQLResolveInfo, nodes: readonly FieldNode[]): Fields {
  const fields: Fields = new Map()
  const seen = new Set<SelectionSetNode | undefined>()
  const visit = (set: SelectionSetNode | undefined) => {
    // A fragment has the same fields wherever it is spread.
    if (seen.has(set)) return
    seen.add(set)
    for (const selection of set?.selections ?? []) {
      if (selection.kind === 'InlineFragment') visit(selection.selectionSet)
      else if (selection.kind === 'FragmentSpread') visit(info.fragments[selection.name.value]?.selectionSet)
      else fields.set(selection.name.value, [...(fields.get(selection.name.value) ?? []), selection])
    }
  }
  for (const node of nodes) visit(node.selectionSet)
  return fields
}

/** Null if the columns of a field are unknown. */
function select(
  info: GraphQLResolveInfo,
  type: GraphQLObjectType,
  table: Table,
  selected: Fields,
  always: readonly string[],
): Selection | null {
  const columns = new Set(always)
  const relations: Record<string, Selection> = {}
  for (const [name, nodes] of selected) {
    if (name === '__typename') continue
    const relation = table.relations[name]
    const below = relation && select(info, objectOf(type.getFields()[name]?.type), relation.table, fieldsOf(info, nodes), ['id'])
    if (below) relations[name] = below
    if (relation) continue
    const needed = neededBy(type, name)
    if (!needed) return null
    for (const column of needed) columns.add(column)
  }
  return {
    columns: table.columns.filter((column) => columns.has(column)),
    relations: Object.fromEntries(
      Object.keys(table.relations).flatMap((name) => (relations[name] ? [[name, relations[name]]] : [])),
    ),
  }
}

function neededBy(type: GraphQLObjectType, name: string): readonly string[] | undefined {
  const extensions = type.getFields()[name]?.extensions as { columns?: readonly string[]; pothosExposedField?: string }
  return extensions.columns ?? (extensions.pothosExposedField ? [extensions.pothosExposedField] : undefined)
}
