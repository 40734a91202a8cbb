// CSV as every spreadsheet reads it, without cells that one would execute.
import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { csvLines } from '../../src/core/csv.ts'
import { linesOf } from '../../src/core/http/csv-answer.ts'

it('quotes what needs it, and is read back as it was', () => {
  const row = ['plain', 'with, comma', 'a "quote"', 'two\nlines', 'a\rreturn', ' blanks ', 'ünïcödé 🎉', '']
  const text = csvLines([row, row])
  expect(text.split('\n')[0]).toBe('plain,"with, comma","a ""quote""","two')
  expect(parse(text)).toEqual([row, row])
})

it('writes null as an empty cell, and times as ISO 8601', () => {
  expect(csvLines([[null, new Date(0), 5, true]])).toBe(',1970-01-01T00:00:00.000Z,5,true\n')
})

it.each(['=1+1', '+4915112345678', '-1', '@SUM(A1)', '\ttab', '\rreturn'])(
  'escapes %j, which a spreadsheet would execute',
  (cell) => {
    expect(parse(csvLines([[cell, `x${cell}`]]))).toEqual([[`'${cell}`, `x${cell}`]])
  },
)

it('writes nothing for no rows', () => {
  expect(csvLines([])).toBe('')
})

it('writes a page in pieces, and leaves a turn of the event loop to others before each', async () => {
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const rows = Array.from({ length: 100 }, (_, i) => [String(i)])
  async function* pages() {
    yield rows
  }
  const pieces: { lines: number; turns: number }[] = []
  for await (const piece of linesOf({ titles: ['n'], pages: pages() }))
    pieces.push({ lines: piece.split('\n').length - 1, turns })
  clearImmediate(next)
  expect(pieces.reduce((sum, { lines }) => sum + lines, 0)).toBe(101)
  for (const [i, { lines, turns }] of pieces.entries()) {
    expect(lines).toBeLessThanOrEqual(20)
    if (i > 0) expect(turns).toBeGreaterThan(pieces[i - 1]?.turns ?? 0)
  }
})
