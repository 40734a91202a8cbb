// Proves that tools can read the schema: their introspection query is within the limits, and its answer is the whole schema.
import { buildClientSchema, getIntrospectionQuery, lexicographicSortSchema, printSchema } from 'graphql'
import { expect, it } from 'vitest'
import { schema } from '../../src/schema.ts'
import { openRig } from '../rest-compat/rig.ts'

it.each([
  ['without options', {}],
  ['without descriptions', { descriptions: false }],
  [
    'with everything that it can ask for',
    { specifiedByUrl: true, directiveIsRepeatable: true, schemaDescription: true, inputValueDeprecation: true, oneOf: true },
  ],
])('the introspection query of graphql-js is answered %s', async (_, options) => {
  const { tenant } = await openRig()
  const { body } = await tenant.api.graphql(getIntrospectionQuery(options))
  expect(body.errors).toBeUndefined()
  const types = (printed: string) => printed.match(/^(type|input|enum|union|interface|scalar) \w+/gm)
  expect(types(printSchema(buildClientSchema(body.data)))).toEqual(types(printSchema(lexicographicSortSchema(schema))))
})
