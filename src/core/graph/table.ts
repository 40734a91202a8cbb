// The tables of the models, for SQL that follows a selection of the graph.
import { getDatamodel } from '../../generated/pothos.ts'

export interface Table {
  /** As SQL calls it. */
  name: string
  columns: readonly string[]
  /** Relations to one row, by the name of their field: of which table, under which column of ours. */
  relations: Readonly<Record<string, { table: Table; key: string }>>
}

const { models } = getDatamodel().datamodel

/** The table of a model, with the relations to join and the tables they lead to. */
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
