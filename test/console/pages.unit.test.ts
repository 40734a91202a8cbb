// Proves that the pages of a list in the console join without a gap and without a repeat, however it grows meanwhile.
import { describe, expect, it } from 'vitest'
import { isTorn, join, type Page, readAgain } from '../../src/console/web/graph/pages.ts'

const id = (row: string) => row
const names = (from: number, until: number) => Array.from({ length: until - from }, (_, n) => `row ${from + n}`)

/** Pages of a list; a cursor is the number of the next row. */
function listOf(rows: string[], size: number) {
  const pageFrom = (from: number, size: number): Page<string> => ({
    rows: rows.slice(from, from + size),
    next: from + size < rows.length ? String(from + size) : null,
  })
  return { first: pageFrom(0, size), readPage: async (after: string, size: number) => pageFrom(Number(after), size) }
}

describe('a list that is read again', () => {
  it('has the rows that new ones pushed out of the first page', async () => {
    const grown = ['new 1', 'new 2', ...names(0, 300)]
    const { first, readPage } = listOf(grown, 50)
    expect(await readAgain(first, readPage, 230)).toEqual({ rows: grown.slice(0, 230), next: '230' })
  })

  it('is read to its end when rows were deleted, and no further than it is shown', async () => {
    const { first, readPage } = listOf(names(0, 12), 10)
    expect(await readAgain(first, readPage, 20)).toEqual({ rows: names(0, 12), next: null })
    expect(await readAgain(first, () => Promise.reject(new Error('nothing more is shown')), 10)).toEqual(first)
  })

  it('shows the first page as it is now, and each row once', () => {
    expect(join(['new', ...names(0, 9)], names(0, 20), id)).toEqual(['new', ...names(0, 20)])
  })

  it('is known to have a gap when more than a page came at once', () => {
    expect(isTorn(['new 1', 'new 2'], names(0, 4), id)).toBe(true)
    expect(isTorn(['new 1', 'row 0'], names(0, 4), id)).toBe(false)
  })
})
