// Proves that a large answer is streamed in pieces that together equal the output of JSON.stringify.
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { answerText, markLarge } from '../../src/core/graph/answer.ts'

async function inPieces(answer: unknown): Promise<string> {
  const data = {}
  markLarge({ data }, 10_000_000)
  const pieces = answerText(answer, data)
  expect(pieces).toBeInstanceOf(Readable)
  return await text(pieces as Readable)
}

it('a large answer equals the output of JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
      expect(await inPieces(value)).toBe(JSON.stringify(value))
    }),
  )
})

it('a large answer omits what JSON.stringify omits', async () => {
  const value = { a: undefined, b: [undefined, null, {}], c: new Date(0), d: { e: undefined }, f: [], g: '"\u0001😀' }
  expect(await inPieces(value)).toBe(JSON.stringify(value))
})

it('a large answer consists of many pieces of a bounded size', async () => {
  const data = { nodes: Array.from({ length: 1_000 }, () => ({ body: 'x'.repeat(4_096) })) }
  markLarge({ data }, 4_096_000)
  const sizes: number[] = []
  for await (const piece of answerText({ data }, data) as Readable) sizes.push((piece as string).length)
  expect(sizes.length).toBeGreaterThan(50)
  expect(Math.max(...sizes)).toBeLessThan(80_000)
})

it('a small answer is a single string', () => {
  const data = { id: 'x' }
  markLarge({ data }, 100)
  expect(answerText({ data }, data)).toBe('{"data":{"id":"x"}}')
})
