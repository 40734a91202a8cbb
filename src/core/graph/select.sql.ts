// Reads rows with only the columns and to-one relations that a GraphQL selection needs, in one prepared statement.
import { createHash } from 'node:crypto'
import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql'
import type { Read } from '../database/database.ts'
import { joined } from './joined-rows.ts'
import type { Table } from './table.ts'

/** The part of a table to read. Both lists have the table's own order, so that equal selections share a statement. */
export interface Selection {
  columns: readonly string[]
  relations: Readonly<Record<string, Selection>>
}

export interface SelectQuery {
  table: Table
  selection: Selection
  /** Conditions on `t`, with `values` as their parameters. */
  where: readonly string[]
  values: readonly unknown[]
  orderBy: string
  /** Part of the SQL text: with a parameter, PostgreSQL would plan the statement again each time, at three times its cost. */
  take: number
}

/** Paths from a connection to the rows of its page. */
export const pagePaths = [['edges', 'node'], ['nodes']]

/** As SQL: the columns of `alias` that the page of a connection needs, plus `always`; all columns if that is unknown. */
export function pageColumns(info: GraphQLResolveInfo, table: Table, always: readonly string[], alias: string): string {
  const { columns } = planSelection(info, table, pagePaths, always) ?? table
  return columns.map((column) => `${alias}."${column}"`).join(', ')
}

const plans = new WeakMap<FieldNode, Selection | null>()

/**
 * Plans which part of `table` the selection below `paths` of a field needs, plus `always`. Null if the columns of a field are
 * unknown; known are `extensions.columns`, an exposed column, and a relation of the table.
 */
export function planSelection(
  info: GraphQLResolveInfo,
  table: Table,
  paths: readonly (readonly string[])[],
  always: readonly string[],
): Selection | null {
  const [node, ...others] = info.fieldNodes
  if (!node || others.length > 0) return makePlan(info, table, paths, always)
  const known = plans.get(node)
  if (known !== undefined) return known
  const plan = makePlan(info, table, paths, always)
  plans.set(node, plan)
  return plan
}

type Selected = Map<string, FieldNode[]>

function makePlan(
  info: GraphQLResolveInfo,
  table: Table,
  paths: readonly (readonly string[])[],
  always: readonly string[],
): Selection | null {
  const found: Selected = new Map()
  let type: GraphQLObjectType | undefined
  for (const path of paths) {
    let at = { nodes: [...info.fieldNodes], type: objectOf(info.returnType) }
    for (const name of path)
      at = { nodes: fieldsOf(info, at.nodes).get(name) ?? [], type: objectOf(at.type.getFields()[name]?.type) }
    for (const [name, nodes] of fieldsOf(info, at.nodes)) found.set(name, [...(found.get(name) ?? []), ...nodes])
    type = at.type
  }
  return type ? selectionOf(info, type, table, found, always) : null
}

function objectOf(type: GraphQLOutputType | undefined): GraphQLObjectType {
  const named = type && getNamedType(type)
  if (!isObjectType(named)) throw new Error('only objects have columns')
  return named
}

/** Returns the fields below nodes, ignoring directives: an unnecessary column does no harm. */
function fieldsOf(info: GraphQLResolveInfo, nodes: readonly FieldNode[]): Selected {
  const fields: Selected = new Map()
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

function selectionOf(
  info: GraphQLResolveInfo,
  type: GraphQLObjectType,
  table: Table,
  selected: Selected,
  always: readonly string[],
): Selection | null {
  const columns = new Set(always)
  const relations: Record<string, Selection> = {}
  for (const [name, nodes] of selected) {
    if (name === '__typename') continue
    const relation = table.relations[name]
    if (relation) {
      const related = objectOf(type.getFields()[name]?.type)
      const below = selectionOf(info, related, relation.table, fieldsOf(info, nodes), ['id'])
      // Only one level is joined; loaders read deeper relations.
      if (!below || Object.keys(below.relations).length > 0) return null
      relations[name] = below
      continue
    }
    const needed = columnsOf(type, name)
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

function columnsOf(type: GraphQLObjectType, name: string): readonly string[] | undefined {
  const extensions = type.getFields()[name]?.extensions as { columns?: readonly string[]; pothosExposedField?: string }
  return extensions.columns ?? (extensions.pothosExposedField ? [extensions.pothosExposedField] : undefined)
}

/** Most statements that a process prepares on a connection; further ones are planned each time. */
const maxPrepared = 200
const prepared = new Map<string, string>()

function nameOf(text: string): string | undefined {
  const known = prepared.get(text)
  if (known || prepared.size >= maxPrepared) return known
  const name = `select.${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`
  prepared.set(text, name)
  return name
}

/** Reads rows in the shape that Prisma returns, with only the selection's columns and relations. */
export async function selectRows<Row>(read: Read, query: SelectQuery): Promise<Row[]> {
  const { table, selection, where, values, orderBy, take } = query
  const joins = Object.keys(selection.relations).map((name, i) => ({ name, alias: `r${i}`, ...relationOf(table, name) }))
  const columns = [
    ...selection.columns.map((column) => `t."${column}"`),
    ...joins.flatMap(({ name, alias }) =>
      (selection.relations[name] as Selection).columns.map((column) => `${alias}."${column}"`),
    ),
  ]
  const text = `select ${columns.join(', ')} from ${table.name} t
    ${joins.map(({ alias, key, table: { name } }) => `left join ${name} ${alias} on ${alias}.id = t."${key}"`).join(' ')}
    where ${where.join(' and ')} order by ${orderBy} limit ${take}`
  const rows = await read({ name: nameOf(text), text, values: [...values], rowMode: 'array' })
  return rows.map((cells) => shape(selection, cells, joins) as Row)
}

function relationOf(table: Table, name: string): { table: Table; key: string } {
  return table.relations[name] as { table: Table; key: string }
}

function shape(selection: Selection, cells: readonly unknown[], joins: readonly { name: string }[]): object {
  const row: Record<string | symbol, unknown> = { [joined]: true }
  let at = 0
  for (const column of selection.columns) row[column] = cells[at++]
  for (const { name } of joins) {
    const related: Record<string, unknown> = {}
    for (const column of (selection.relations[name] as Selection).columns) related[column] = cells[at++]
    row[name] = related.id === null ? null : related
  }
  return row
}
