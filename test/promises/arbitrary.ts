// Values of any schema of the API's document, to be tried on what it says about them.
import fc from 'fast-check'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import { apiDocument } from '../kit/document.ts'

/** Values about which JSON Schema cannot say everything: of fields, of named schemas, of patterns and formats. */
export type Known = Record<string, fc.Arbitrary<unknown> | undefined>

/** What a schema allows besides null, and whether it allows null. */
export interface Plain {
  schema: Schema
  /** Its name in the document, where it has one. */
  name: string | undefined
  nullable: boolean
}

/** Follows references, and takes `null` out of what it may be. */
export function plainOf(schema: Schema): Plain {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) as string
    return { ...plainOf(apiDocument().components.schemas[name] as Schema), name }
  }
  const choices = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (choices?.length === 1) return { ...plainOf(choices[0] as Schema), nullable: true }
  const types = [schema.type].flat()
  const [type] = types.filter((one) => one !== 'null')
  const values = schema.enum?.filter((value) => value !== null)
  return {
    schema: { ...schema, ...(type && { type }), ...(values && { enum: values }) },
    name: undefined,
    nullable: types.includes('null'),
  }
}

/** One code point that can be stored, often an ordinary one. */
const character = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((one) => one !== '\0') },
)

/** So many code points, now and then the very most. */
export function text(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.string({ unit: character, minLength, maxLength: Math.min(maxLength, 300) }) },
    { weight: 1, arbitrary: fc.constantFrom('x', '\u{1f600}').map((one) => one.repeat(Math.min(maxLength, 10_000))) },
  )
}

/** What the document allows at `field`, null apart. */
export function presentFor(schema: Schema, known: Known, field = ''): fc.Arbitrary<unknown> {
  const { schema: plain, name = '' } = plainOf(schema)
  const { pattern, format } = plain as Record<string, string | undefined>
  return known[field] ?? known[name] ?? known[pattern ?? format ?? ''] ?? bareOf(plain, known)
}

/** What the document allows at `field`. */
export function valueFor(schema: Schema, known: Known, field = ''): fc.Arbitrary<unknown> {
  const present = presentFor(schema, known, field)
  return plainOf(schema).nullable ? fc.option(present, { freq: 6 }) : present
}

function bareOf(schema: Schema, known: Known): fc.Arbitrary<unknown> {
  const { minimum: min, maximum: max, minItems: minLength, maxItems: maxLength } = schema as Record<string, number>
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valueFor(one, known)))
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return fc.integer({ min, max })
    case 'number':
      return fc.double({ min, max, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueFor(schema.items ?? {}, known), { minLength, maxLength })
    case 'object':
      return schema.properties ? recordOf(schema, fieldsOf(schema, known)) : dictionaryOf(schema, known)
  }
  return fc.jsonValue({ stringUnit: character, maxDepth: 5 })
}

function textOf({ format, minLength = 0, maxLength = 1000 }: Schema): fc.Arbitrary<string> {
  if (format === 'uuid') return fc.uuid()
  if (format === 'date-time') {
    return fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString())
  }
  return text(minLength as number, maxLength as number)
}

function dictionaryOf({ additionalProperties }: Schema, known: Known): fc.Arbitrary<unknown> {
  const value = typeof additionalProperties === 'object' ? additionalProperties : {}
  const name = fc.string({ unit: character, minLength: 1, maxLength: 50 }).filter((one) => one !== '__proto__')
  return fc.dictionary(name, valueFor(value, known), { maxKeys: 50 })
}

export type Fields = Record<string, fc.Arbitrary<unknown>>

/** Each field of an object's schema. */
export function fieldsOf({ properties = {} }: Schema, known: Known): Fields {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema, known, name)]))
}

/** An object of these fields, of which the schema's required ones, and `needed`, are always there. */
export function recordOf(
  { required = [] }: Schema,
  fields: Fields,
  needed: readonly string[] = [],
): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(fields, { requiredKeys: [...required, ...needed], noNullPrototype: true })
}
