// What people call things, as it goes into a mail's head or onto an operator's terminal.

/** One line of it, so that nobody's name adds lines, or codes that a terminal obeys. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** A row of a list, its columns two spaces apart. */
export function lineOf(columns: readonly (string | number)[]): string {
  return columns.map((column) => oneLine(String(column))).join('  ')
}
