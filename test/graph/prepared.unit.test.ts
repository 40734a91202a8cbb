// Proves that a document gives the operation that would run, whatever was asked of it before.
import { expect, it } from 'vitest'
import { operationOf, prepare } from '../../src/core/graph/prepared.ts'

it('an empty name is the name of no operation, also after the only one has run without a name', () => {
  const { document } = prepare('query Own { me { id } }')
  expect(operationOf(document, '')).toBeNull()
  expect(operationOf(document)?.node.name?.value).toBe('Own')
  expect(operationOf(document, 'Own')?.node.name?.value).toBe('Own')
  expect(operationOf(document, '')).toBeNull()
})
