// Proves that a compiled query runs again after an error, for the same answer as graphql-js gives, but not after the end of its budget.
import { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString, parse } from 'graphql'
import { beforeEach, expect, it } from 'vitest'
import type { Context } from '../../src/core/context.ts'
import { fail } from '../../src/core/errors.ts'
import { wholeBudget } from '../../src/core/graph/budget.ts'
import { executeOperation } from '../../src/core/graph/execute.ts'

let runs: number

const any = {
  type: GraphQLString,
  args: { items: { type: GraphQLInt } },
  resolve(_: unknown, { items }: { items: number }, { budget }: Context) {
    runs++
    if (items < 0) fail('NOT_FOUND')
    budget?.addItems(items)
    return 'done'
  },
}
const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { any } }) })
const document = parse('query ($items: Int) { any(items: $items) }')
const context = { principal: { kind: 'personal', credentialId: 'key' } } as Context

async function ask(items: number) {
  return await executeOperation({ schema, document, variables: { items }, context, limits: { ...wholeBudget, items: 50 } })
}

beforeEach(async () => {
  for (let run = 0; run < 10; run++) expect(await ask(50)).toEqual({ data: { any: 'done' } })
  runs = 0
})

it('runs a query again after an error', async () => {
  expect(await ask(-1)).toMatchObject({ data: { any: null }, errors: [{ extensions: { code: 'NOT_FOUND' } }] })
  expect(runs).toBe(2)
})

it('runs a query once that spends its budget', async () => {
  const { data, errors } = await ask(51)
  expect([data, errors?.map(({ message }) => message)]).toEqual([
    null,
    ['The response has more than 50 items; request less at a time'],
  ])
  expect(runs).toBe(1)
})
