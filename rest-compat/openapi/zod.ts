// Converts zod schemas to compact JSON Schema.
import { z } from 'zod'

/** JSON Schema as OpenAPI 3.1 uses it. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  format?: string
  enum?: readonly unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: boolean | Schema
  [keyword: string]: unknown
}

/** Converts a schema for its input or its output. `named` holds the schemas that it refers to by name. */
export function toSchema(schema: z.ZodType, io: 'input' | 'output'): { root: Schema; named: Record<string, Schema> } {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ root: schema }), {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      // zod leaves out the default of a schema that transforms its value.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= zodSchema.def.defaultValue as never
    },
  })
  return { root: tidy(properties?.root as Schema), named: mapValues($defs as Record<string, Schema>, tidy) }
}

/** Removes redundant keywords, and shortens nullable types. `additionalProperties: false` is removed, because records may gain fields. */
function tidy(schema: Schema): Schema {
  const { id: _, $schema: __, propertyNames: ___, anyOf, ...tidied } = schema
  if (tidied.additionalProperties === false) delete tidied.additionalProperties
  if (tidied.format) delete tidied.pattern
  if (tidied.minimum === Number.MIN_SAFE_INTEGER) delete tidied.minimum
  if (tidied.maximum === Number.MAX_SAFE_INTEGER) delete tidied.maximum
  if (tidied.$ref) tidied.$ref = tidied.$ref.replace('#/$defs/', '#/components/schemas/')
  if (typeof tidied.additionalProperties === 'object') tidied.additionalProperties = tidy(tidied.additionalProperties)
  if (tidied.items) tidied.items = tidy(tidied.items)
  if (tidied.properties) tidied.properties = mapValues(tidied.properties, tidy)
  return anyOf ? withChoice(tidied, anyOf.map(tidy)) : tidied
}

/** Merges the choice between one simple type and null into one type list. */
function withChoice(schema: Schema, choices: Schema[]): Schema {
  const [first, second] = choices
  if (choices.length !== 2 || second?.type !== 'null' || typeof first?.type !== 'string') return { ...schema, anyOf: choices }
  return { ...first, ...schema, type: [first.type, 'null'], ...(first.enum && { enum: [...first.enum, null] }) }
}

export function mapValues<Value, Mapped>(
  record: Record<string, Value>,
  map: (value: Value, name: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]))
}
