// Options that several commands have, and how they print their results.
import { Option } from 'commander'
import { jsonLine, lineOf, oneLine } from '../core/one-line.ts'

export const email = () => new Option('--email <email>', 'e-mail address of the account').makeOptionMandatory()
export const json = () => new Option('--json', 'print JSON')

/** Prints the fields of a record, one a line, or as JSON. */
export function printFields(asJson: true | undefined, fields: object): void {
  if (asJson) console.log(jsonLine(fields))
  else for (const [name, value] of Object.entries(fields)) console.log(`${name}: ${oneLine(String(value))}`)
}

/** Prints the columns of each row, one row a line, or all rows as JSON. */
export function printRows<Row>(
  asJson: true | undefined,
  rows: readonly Row[],
  columns: (row: Row) => readonly (string | number)[],
): void {
  if (asJson) console.log(jsonLine(rows))
  else for (const row of rows) console.log(lineOf(columns(row)))
}
