// What people call things, as it goes into a mail's head or onto an operator's terminal.

/** Characters that turn the direction of the text after them, and with it what a line seems to say. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu
/** What a terminal may obey or show elsewhere, and JSON leaves as it is: DEL, the C1 codes (U+009B begins a command), line separators. */
const beyondJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** One line of it, so that nobody's name adds lines, or codes that a terminal obeys. */
export function oneLine(text: string): string {
  return text
    .replaceAll(turning, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** A row of a list, its columns two spaces apart. */
export function lineOf(columns: readonly (string | number)[]): string {
  return columns.map((column) => oneLine(String(column))).join('  ')
}

/** The same JSON without a character that a terminal obeys: each is written as `\uXXXX`. */
export function shownJson(json: string): string {
  return json.replaceAll(beyondJson, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
