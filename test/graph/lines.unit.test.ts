// Proves how many lines a GraphQL document may have.
import { expect, it } from 'vitest'
import { prepare } from '../../src/core/graph/prepared.ts'

it.each(['\n', '\r', '\r\n'])('a document may have 2,000 lines, which end with %j', (end) => {
  expect(prepare(`{ me { id } }${end.repeat(1_999)}`).document.definitions).toHaveLength(1)
  expect(() => prepare(`{ me { id } }${end.repeat(2_000)}`)).toThrow('query: must have at most 2000 lines')
})
