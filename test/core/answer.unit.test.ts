// A large answer comes in pieces, which together are what JSON.stringify says.
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

it('says the same in pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
      expect(await inPieces(value)).toBe(JSON.stringify(value))
    }),
  )
})

it('leaves out what JSON.stringify leaves out', async () => {
  const value = { a: undefined, b: [undefined, null, {}], c: new Date(0), d: { e: undefined }, f: [], g: '"\u0001😀' }
  expect(await inPieces(value)).toBe(JSON.stringify(value))
})

it('is many pieces of a bounded size', async () => {
  const data = { nodes: Array.from({ length: 1_000 }, () => ({ body: 'x'.repeat(4_096) })) }
  markLarge({ data }, 4_096_000)
  const sizes: number[] = []
  for await (const piece of answerText({ data }, data) as Readable) sizes.push((piece as string).length)
  expect(sizes.length).toBeGreaterThan(50)
  expect(Math.max(...sizes)).toBeLessThan(80_000)
})

it('is one text where it is small', () => {
  const data = { id: 'x' }
  markLarge({ data }, 100)
  expect(answerText({ data }, data)).toBe('{"data":{"id":"x"}}')
})
