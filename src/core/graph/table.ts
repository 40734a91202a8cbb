// Tables of the Prisma models, for SQL that follows a selection of the graph.
import { getDatamodel } from '../../generated/pothos.ts'

export interface Table {
  /** Name of the table in SQL. */
  name: string
  columns: readonly string[]
  /** To-one relations by field name: the related table, and our foreign key column. */
  relations: Readonly<Record<string, { table: Table; key: string }>>
}

const { models } = getDatamodel().datamodel

/** Returns the table of a model, with the relations to join and their tables. */
export function tableOf(model: string, name: string, relations: Readonly<Record<string, Table>> = {}): Table {
  const fields = models[model]?.fields ?? []
  const keyOf = (relation: string) => fields.find((field) => field.name === relation)?.relationFromFields?.[0] as string
  return {
    name,
    columns: fields.filter(({ kind }) => kind !== 'object').map((field) => field.name),
    relations: Object.fromEntries(
      Object.entries(relations).map(([relation, table]) => [relation, { table, key: keyOf(relation) }]),
    ),
  }
}
