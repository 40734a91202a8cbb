// Proves that the cost limits of a JSON body are checked on its bytes, before it is parsed.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxValues, parseJson } from '../../src/core/http/json.ts'

function parsed(text: string): unknown {
  return parseJson(Buffer.from(text))
}

it('parses any JSON within the limits as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      fc.pre(!text.includes('__proto__'))
      expect(parsed(text)).toEqual(JSON.parse(text))
    }),
  )
})

it('refuses invalid JSON as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      let expected: unknown
      try {
        expected = JSON.parse(text)
      } catch {
        expect(() => parsed(text)).toThrow('body: is not valid JSON')
        return
      }
      expect(parsed(text)).toEqual(expected)
    }),
  )
})

describe('a body', () => {
  /** A list counts as five values, and each of its items as one. */
  const list = (values: number) => `[${'1,'.repeat(values - 5)}1]`

  it('holds as many values as its route allows, and not one more', () => {
    expect(parsed(list(maxValues.ordinary))).toHaveLength(maxValues.ordinary - 4)
    expect(() => parsed(list(maxValues.ordinary + 1))).toThrow(`body: must not have more than ${maxValues.ordinary} values`)
    const bulk = list(maxValues.ordinary + 1)
    expect(parseJson(Buffer.from(bulk), { values: 'bulk' })).toHaveLength(maxValues.ordinary - 3)
  })

  it('counts the members of objects, but not the content of strings', () => {
    const objects = (count: number) => `[${Array(count).fill('{"a":1}').join(',')}]`
    expect(() => parsed(objects(maxValues.ordinary / 2))).toThrow('must not have more than')
    const brackets = JSON.stringify('[{,:"\\'.repeat(maxValues.ordinary))
    expect(parsed(brackets)).toBe(JSON.parse(brackets))
  })

  it('has at most 50,000 different fields, in one object or in many', () => {
    const most = 50_000
    const object = (from: number, fields: number) => `{${Array.from({ length: fields }, (_, i) => `"k${from + i}":1`).join(',')}}`
    const objects = (count: number, fields: number) =>
      `[${Array.from({ length: count }, (_, i) => object(i * fields, fields)).join(',')}]`
    const bulk = (text: string) => parseJson(Buffer.from(text), { values: 'bulk' })
    const refused = `body: must not have more than ${most} distinct fields`
    expect(Object.keys(bulk(object(0, most)) as object)).toHaveLength(most)
    expect(() => bulk(object(0, most + 1))).toThrow(refused)
    expect(bulk(objects(500, 100))).toHaveLength(500)
    expect(() => bulk(objects(501, 100))).toThrow(refused)
  })

  it('may repeat the fields of one object as often as its values allow', () => {
    const like = (fields: string) => `[${Array(20_000).fill(`{${fields}}`).join(',')}]`
    expect(parseJson(Buffer.from(like('"to":1,"a":2,"b":3')), { values: 'bulk' })).toHaveLength(20_000)
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
    const turned = Array.from(
      { length: 9_000 },
      (_, i) => `{${names.map((_, n) => `"${names[(n * (1 + (i % 8)) + i) % 9]}${i % 7}":1`).join(',')}}`,
    )
    expect(parseJson(Buffer.from(`[${turned.join(',')}]`), { values: 'bulk' })).toHaveLength(9_000)
  })

  it('is nested at most 64 deep', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parsed(nested(64))).toBeInstanceOf(Array)
    expect(() => parsed(nested(65))).toThrow('body: must not be nested more than 64 levels deep')
  })

  it.each([
    '{"__proto__":1}',
    '{"a":[{"__pr\\u006fto__" : {}}]}',
    '{"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}',
  ])('must not name the prototype: %s', (text) => {
    expect(() => parsed(text)).toThrow('body: must not name __proto__')
  })

  it('may contain the name in a string, and similar names', () => {
    expect(parsed('{"a":"__proto__","__proto___":"x","x__proto__":1}')).toEqual({
      a: '__proto__',
      __proto___: 'x',
      x__proto__: 1,
    })
  })
})
