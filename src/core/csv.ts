// Writes CSV: UTF-8, commas, a line feed after each line. Import reads the same form back.
import { stringify } from 'csv-stringify/sync'

export type Cell = string | number | boolean | Date | null

/**
 * A spreadsheet would execute a cell that begins like this, or hide its first character. One that has apostrophes before it gets one more,
 * because the import takes one off.
 */
const executable = /^'*[=+\-@\t\r]/

/** The lines of these rows. Empty for no rows. */
export function csvLines(rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return ''
  return stringify(
    rows.map((cells) => cells.map(textOf)),
    { quoted_match: /[\r\n]/ },
  )
}

/** The text of a cell, behind `'` if a spreadsheet would execute it. */
function textOf(cell: Cell): string {
  if (cell === null) return ''
  const text = cell instanceof Date ? cell.toISOString() : String(cell)
  return executable.test(text) ? `'${text}` : text
}
