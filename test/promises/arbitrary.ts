// Generates arbitrary values that conform to any schema of the OpenAPI document, for property tests.
import fc from 'fast-check'
import type { Schema } from '../../rest-compat/openapi/zod.ts'
import { apiDocument } from '../kit/document.ts'

/** Generators for values that JSON Schema cannot fully describe, keyed by field name, schema name, pattern or format. */
export type Known = Record<string, fc.Arbitrary<unknown> | undefined>

/** A schema without its null alternative, and whether it allows null. */
export interface Plain {
  schema: Schema
  /** The name of the schema in the document, if it has one. */
  name: string | undefined
  nullable: boolean
}

/** Resolves references, and separates `null` from the other allowed types and values. */
export function plainOf(schema: Schema): Plain {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) as string
    return { ...plainOf(apiDocument().components.schemas[name] as Schema), name }
  }
  const choices = schema.anyOf?.filter(({ type }) => type !== 'null')
  if (choices?.length === 1) return { ...plainOf(choices[0] as Schema), nullable: true }
  const types = [schema.type].flat()
  const [type, ...others] = types.filter((one) => one !== undefined && one !== 'null')
  const values = schema.enum?.filter((value) => value !== null)
  const { type: _, ...untyped } = schema
  return {
    schema:
      others.length > 0
        ? { anyOf: [type, ...others].map((one) => ({ ...untyped, type: one as string })) }
        : { ...schema, ...(type && { type }), ...(values && { enum: values }) },
    name: undefined,
    nullable: types.includes('null'),
  }
}

/** One code point that the database can store (NUL excluded), usually printable ASCII. */
const character = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((one) => one !== '\0') },
)

/**
 * A string of `minLength` to `maxLength` code points; one in ten repeats a single code point up to the maximum (at most
 * 10,000).
 */
export function text(minLength: number, maxLength: number): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 9, arbitrary: fc.string({ unit: character, minLength, maxLength: Math.min(maxLength, 300) }) },
    { weight: 1, arbitrary: fc.constantFrom('x', '\u{1f600}').map((one) => one.repeat(Math.min(maxLength, 10_000))) },
  )
}

/** Generates a non-null value that the document allows for `field`. */
export function presentFor(schema: Schema, known: Known, field = ''): fc.Arbitrary<unknown> {
  const { schema: plain, name = '' } = plainOf(schema)
  const { pattern, format } = plain as Record<string, string | undefined>
  return known[field] ?? known[name] ?? known[pattern ?? format ?? ''] ?? bareOf(plain, known)
}

/** Generates a value that the document allows for `field`, including null where the schema is nullable. */
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
      // JSON's larger numbers are not exact.
      return fc.double({ min: min ?? Number.MIN_SAFE_INTEGER, max: max ?? Number.MAX_SAFE_INTEGER, noNaN: true })
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

/** A generator for each field of an object's schema. */
export function fieldsOf({ properties = {} }: Schema, known: Known): Fields {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, valueFor(schema, known, name)]))
}

/** An object of these fields; the required fields of the schema, and those in `needed`, are always present. */
export function recordOf(
  { required = [] }: Schema,
  fields: Fields,
  needed: readonly string[] = [],
): fc.Arbitrary<Record<string, unknown>> {
  return fc.record(fields, { requiredKeys: [...required, ...needed], noNullPrototype: true })
}
