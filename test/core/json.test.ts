// What a JSON body may cost is found in its bytes, before it is parsed.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxValues, parseJson } from '../../src/core/json.ts'

function parsed(text: string): unknown {
  return parseJson(Buffer.from(text))
}

it('parses as JSON.parse does whatever is within the bounds', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(parsed(text)).toEqual(JSON.parse(text))
    }),
  )
})

it('refuses as JSON.parse does whatever is no JSON', () => {
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
  const list = (items: number) => `[${Array(items).fill('1').join(',')}]`

  it('holds as many values as its route allows, and not one more', () => {
    expect(parsed(list(maxValues.ordinary))).toHaveLength(maxValues.ordinary)
    expect(() => parsed(list(maxValues.ordinary + 1))).toThrow(`body: must not hold more than ${maxValues.ordinary} values`)
    const bulk = list(maxValues.ordinary + 1)
    expect(parseJson(Buffer.from(bulk), { values: 'bulk' })).toHaveLength(maxValues.ordinary + 1)
  })

  it('counts the members of objects, and what stands in texts not at all', () => {
    const objects = (count: number) => `[${Array(count).fill('{"a":1}').join(',')}]`
    expect(() => parsed(objects(maxValues.ordinary / 2))).toThrow('must not hold more than')
    const brackets = JSON.stringify('[{,:"\\'.repeat(maxValues.ordinary))
    expect(parsed(brackets)).toBe(JSON.parse(brackets))
  })

  it('has at most 1,000 names in one object', () => {
    const object = (names: number) => JSON.stringify(Object.fromEntries(Array.from({ length: names }, (_, i) => [`k${i}`, 1])))
    expect(Object.keys(parsed(object(1_000)) as object)).toHaveLength(1_000)
    expect(() => parsed(object(1_001))).toThrow('body: must not hold an object with more than 1000 fields')
    expect(parsed(`[${object(999)},${object(999)}]`)).toHaveLength(2)
  })

  it('is nested at most 64 deep', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(parsed(nested(64))).toBeInstanceOf(Array)
    expect(() => parsed(nested(65))).toThrow('body: must not be nested more than 64 deep')
  })

  it.each([
    '{"__proto__":1}',
    '{"a":[{"__pr\\u006fto__" : {}}]}',
    '{"\\u005f\\u005f\\u0070\\u0072\\u006f\\u0074\\u006f\\u005f\\u005f":1}',
  ])('does not name the prototype: %s', (text) => {
    expect(() => parsed(text)).toThrow('body: must not name __proto__')
  })

  it('may say the name, and have one like it', () => {
    expect(parsed('{"a":"__proto__","__proto___":"x","x__proto__":1}')).toEqual({
      a: '__proto__',
      __proto___: 'x',
      x__proto__: 1,
    })
  })
})
