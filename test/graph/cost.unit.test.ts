// Proves that the cost of an operation is computed with its variables, before anything runs.
import { parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { limits, refuseCostly } from '../../src/http/graphql-limits.ts'
import { schema } from '../../src/schema.ts'

function refusalOf(query: string, variableValues: Record<string, unknown> = {}): string | undefined {
  return refuseCostly({ schema, document: parse(query), variableValues })?.message
}

/** A query with that many fields below a list of endpoints, each with a page of deliveries. */
function pages(first: string, fields: number): string {
  const each = Array.from({ length: fields }, (_, i) => `f${i}: id`).join(' ')
  return `query ($first: Int) { webhooks { deliveries(first: ${first}) { nodes { ${each} } } } }`
}

describe('the cost of an operation', () => {
  it('grows with the requested page size', () => {
    expect(refusalOf(pages('5', 12))).toBeUndefined()
    expect(refusalOf(pages('100', 12))).toBe(`The query's complexity is 65051; at most ${limits.complexity} is allowed`)
  })

  it('is the same when the page size is a variable', () => {
    expect(refusalOf(pages('$first', 12), { first: 5 })).toBeUndefined()
    expect(refusalOf(pages('$first', 12), { first: 100 })).toContain('complexity is 65051')
  })

  it('is computed again whenever a variable overrides its default', () => {
    const document = parse(pages('$first', 12).replace('$first: Int', '$first: Int = 100'))
    const refused = (variableValues: Record<string, unknown>) => {
      return refuseCostly({ schema, document, variableValues }) !== null
    }
    expect([{ first: null }, {}, { first: 5 }, {}].map(refused)).toEqual([false, true, false, true])
    const including = parse(
      pages('100', 12).replace('$first: Int', '$all: Boolean = true').replace('nodes', 'nodes @include(if: $all)'),
    )
    const refusedToInclude = (variableValues: Record<string, unknown>) => {
      return refuseCostly({ schema, document: including, variableValues }) !== null
    }
    expect([{ all: false }, {}, { all: true }].map(refusedToInclude).slice(1)).toEqual([true, true])
  })

  it('is that of the operation that runs, whichever comes first', () => {
    const document = parse(`query A { me { id } } ${pages('$first', 12).replace('query', 'query B')}`)
    const refused = (operationName: string) =>
      refuseCostly({ schema, document, operationName, variableValues: { first: 100 } }) !== null
    expect(['A', 'B'].map(refused)).toEqual([false, true])
  })

  it('reports a null variable for a non-null argument as an error that names it', () => {
    const query = pages('100', 12).replace('query ($first: Int) {', 'query ($id: ID = "1") { message(id: $id) { id }')
    expect(refusalOf(query, { id: null })).toBe('id: must not be null')
  })

  it('is computed again after invalid variables', () => {
    const document = parse(pages('$first', 12).replace('$first: Int', '$first: Int = 100'))
    const refused = (variableValues: Record<string, unknown>) => refuseCostly({ schema, document, variableValues }) !== null
    expect([{ first: 'x' }, {}].map(refused)).toEqual([false, true])
  })

  it('is that of the variables of the operation, whatever others a request names', () => {
    const document = parse(pages('$first', 12))
    const refused = (variableValues: Record<string, unknown>) => refuseCostly({ schema, document, variableValues }) !== null
    // As text, both requests have the same lines.
    expect([{ 'first 100\nx': 1 }, { first: 100, x: 1 }].map(refused)).toEqual([false, true])
  })

  it('leaves the refusal of a too large page to the list, which names the argument', () => {
    expect(refusalOf('{ messages(first: 1000000000) { nodes { id } } }')).toBeUndefined()
  })

  it('counts the content of fragments', () => {
    const fragment = `fragment D on WebhookEndpoint { deliveries(first: 100) { nodes { ${'a: id b: id c: id d: id e: id f: id g: id h: id i: id j: id'} } } }`
    expect(refusalOf(`{ webhooks { ...D } } ${fragment}`)).toContain('complexity is')
  })

  it('allows one mutation only', () => {
    const one = 'deleteWebhook(id: "01a1fc0f-0bb2-76ab-9c75-28587fa05900") { id }'
    expect(refusalOf(`mutation { ${one} }`)).toBeUndefined()
    expect(refusalOf(`mutation { a: ${one} b: ${one} }`)).toContain('one mutation')
  })
})
