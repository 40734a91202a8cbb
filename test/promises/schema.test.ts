// Proves that the GraphQL schema that callers build on is stored, described, and strictly typed.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql'
import { describe, expect, it } from 'vitest'
import { schema } from '../../src/schema.ts'
import { root } from '../kit/environment.ts'

const types = Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))
const objects = types.filter(isObjectType)
const roots = ['Query', 'Mutation', 'Subscription']

interface Described {
  name: string
  description?: string | null
}

/** Everything in a type that is visible to a caller, the type itself first. */
function partsOf(type: GraphQLNamedType): Described[] {
  const own = { name: type.name, description: type.description }
  if (isInputObjectType(type)) return [own, ...Object.values(type.getFields()).map((field) => below(type.name, field))]
  if (!isObjectType(type)) return [own]
  const fields = Object.values(type.getFields())
  const parts = fields.flatMap((field) => [
    below(type.name, field),
    ...field.args.map((arg) => below(`${type.name}.${field.name}`, arg)),
  ])
  return [own, ...parts]
}

function below(parent: string, part: Described): Described {
  return { name: `${parent}.${part.name}`, description: part.description }
}

function fieldsOf(list: readonly { name: string; getFields: () => Record<string, GraphQLField<unknown, unknown>> }[]) {
  return list.flatMap((type) =>
    Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, type: field.type })),
  )
}

/** Returns true if a list, at any depth, may contain null. */
function mayHoldNull(type: GraphQLOutputType): boolean {
  const bare = isNonNullType(type) ? type.ofType : type
  return isListType(bare) && (!isNonNullType(bare.ofType) || mayHoldNull(bare.ofType))
}

describe('the GraphQL schema', () => {
  it('equals the committed src/schema.graphql', () => {
    const printed = readFileSync(path.join(root, 'src/schema.graphql'), 'utf8')
    expect(printed.trim(), 'run `npm run generate` and commit src/schema.graphql').toBe(
      printSchema(lexicographicSortSchema(schema)).trim(),
    )
  })

  it('describes every type, field, argument, enum and input field', () => {
    const silent = types.flatMap(partsOf).filter(({ description }) => !description?.trim())
    expect(silent.map(({ name }) => name)).toEqual([])
  })

  it('describes in full sentences', () => {
    const odd = types.flatMap(partsOf).filter(({ description }) => description && !/^[A-Z0-9`].*[.…`]$/s.test(description.trim()))
    expect(odd.map(({ name, description }) => `${name}: ${description}`)).toEqual([])
  })

  it('spells types in PascalCase, fields in camelCase, and enum values as the contract does', () => {
    expect(types.map(({ name }) => name).filter((name) => !/^([A-Z][a-z0-9]*)+$|^JSON$/.test(name))).toEqual([])
    const names = types.flatMap(partsOf).flatMap(({ name }) => name.split('.').slice(1))
    expect(names.filter((name) => !/^[a-z][A-Za-z0-9]*$/.test(name))).toEqual([])
    const values = types.filter(isEnumType).filter(({ name }) => !name.endsWith('ErrorCode'))
    expect(
      values.flatMap((type) => type.getValues()).filter(({ name }) => !/^[a-z]+(_[a-z]+|At_(asc|desc))*$/.test(name)),
    ).toEqual([])
  })
})

describe('an answer of the GraphQL schema', () => {
  it('is null at its root only where a record is looked up by its id, so that a missing one leaves the rest of the answer', () => {
    const fields = fieldsOf(objects.filter(({ name }) => roots.includes(name)))
    const nullable = fields.filter(({ type }) => !isNonNullType(type)).map(({ name }) => name)
    expect(nullable.sort()).toEqual(
      [
        'bulkJob',
        'campaign',
        'contact',
        'contactGroup',
        'instance',
        'media',
        'message',
        'team',
        'template',
        'webhook',
        'webhookDelivery',
        'webhookRedelivery',
      ].map((name) => `Query.${name}`),
    )
  })

  it('has no nullable lists, and no lists that may hold null', () => {
    const fields = fieldsOf(objects)
    const lists = fields.filter(({ type }) => isListType(isNonNullType(type) ? type.ofType : type))
    expect(lists.filter(({ type }) => !isNonNullType(type) || mayHoldNull(type)).map(({ name }) => name)).toEqual([])
    expect(lists.length).toBeGreaterThan(10)
  })

  it('has no nullable booleans or enums, except NumberLookup.exists and Message.errorCode', () => {
    const open = fieldsOf(objects).filter(({ type }) => isEnumType(type) || (isScalarType(type) && type.name === 'Boolean'))
    // A provider may be unable to tell whether a number exists, and most messages do not fail.
    expect(open.map(({ name }) => name).sort()).toEqual(['Message.errorCode', 'NumberLookup.exists'])
  })

  it('is nullable in less than a quarter of its fields', () => {
    const nullable = fieldsOf(objects).filter(({ type }) => !isNonNullType(type))
    expect(nullable.length / fieldsOf(objects).length).toBeLessThan(1 / 4)
  })
})
