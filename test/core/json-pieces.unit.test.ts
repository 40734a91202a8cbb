// Proves that a long body parsed in pieces gives the same value as JSON.parse of the whole.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JsonPieces, pieceBytes } from '../../src/core/http/json-pieces.ts'

/** Parses a text that arrives in blocks of `blockBytes` bytes, each cut into the smallest possible pieces. */
function parsed(text: string, blockBytes: number, cutBytes = 0): unknown {
  const bytes = Buffer.from(text)
  const pieces = new JsonPieces(1_000_000, cutBytes)
  for (let at = 0; at < bytes.length; at += blockBytes) pieces.write(bytes.subarray(at, at + blockBytes))
  return pieces.end()
}

function expected(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return 'no JSON'
  }
}

function actual(text: string, blockBytes: number, cutBytes: number): unknown {
  try {
    return parsed(text, blockBytes, cutBytes)
  } catch (error) {
    expect((error as Error).message).toBe('is not valid JSON')
    return 'no JSON'
  }
}

const blocks = fc.integer({ min: 1, max: 12 })
const cuts = fc.integer({ min: 0, max: 12 })

it('parses pieces to the same value as JSON.parse of the whole', () => {
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'large', maxDepth: 6, withCrossShrink: true },
      fc.constantFrom<unknown>(1, -2.5e3, true, null, '', 'a,b', '"\\', '{[é…'),
      fc.array(tie('node'), { maxLength: 5 }),
      fc.dictionary(fc.constantFrom('a', 'b', '1', '0', 'é', '"', '', 'a,b'), tie('node'), { maxKeys: 5 }),
    ),
  }))
  fc.assert(
    fc.property(node, blocks, cuts, fc.constantFrom(undefined, 1, '\n\t'), (value, blockBytes, cutBytes, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(parsed(text, blockBytes, cutBytes)).toEqual(JSON.parse(text))
    }),
    { numRuns: 3_000 },
  )
})

it('accepts exactly what JSON.parse accepts', () => {
  const tokens = fc.constantFrom(
    '[',
    ']',
    '{',
    '}',
    ',',
    ',',
    ':',
    '"a"',
    '"a":',
    '"b":',
    '1',
    'null',
    ' ',
    '"',
    '\\',
    '[1,2]',
    '{"a":1}',
  )
  fc.assert(
    fc.property(fc.array(tokens, { maxLength: 14 }), blocks, cuts, (parts, blockBytes, cutBytes) => {
      const text = parts.join('')
      expect(actual(text, blockBytes, cutBytes)).toEqual(expected(text))
    }),
    { numRuns: 20_000 },
  )
})

it('refuses one token too many or too few, anywhere in a long text', () => {
  const text = '{"a":[1,{"b":[[],{}],"a":"x"}],"c":{"a":[1,2,3]},"a":[4],"d":null}'
  const at = fc.integer({ min: 0, max: text.length })
  fc.assert(
    fc.property(at, fc.constantFrom('', ',', ']', '}', '[', '{', ':', '"'), fc.nat(1), blocks, (from, put, drop, blockBytes) => {
      const changed = text.slice(0, from) + put + text.slice(from + drop)
      expect(actual(changed, blockBytes, 0)).toEqual(expected(changed))
    }),
    { numRuns: 5_000 },
  )
})

it('keeps the last of several members of one name, even if the first was cut', () => {
  const text = '{"a":[1,2,3],"a":{"b":1,"c":2},"d":{"x":[1,2],"x":[3]},"a":7}'
  for (let cut = 0; cut < text.length; cut++) expect(parsed(text, 3, cut)).toEqual(JSON.parse(text))
})

it('accepts a string that is longer than many pieces', () => {
  const long = `é${'x'.repeat(5 * pieceBytes)}`
  const text = JSON.stringify({ a: [1, long], b: long, c: [2] })
  expect(parsed(text, 1_000, 10)).toEqual({ a: [1, long], b: long, c: [2] })
})

it('refuses bytes that are not UTF-8', () => {
  const pieces = new JsonPieces(10, 0)
  pieces.write(Buffer.from('["a",'))
  pieces.write(Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x5d]))
  expect(() => pieces.end()).toThrow('is not valid JSON')
})
