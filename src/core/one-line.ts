// Free text of people on an operator's terminal and in the log: names above all.

/**
 * One line of it, without control characters and bidirectional controls: nobody's name adds lines, gives the terminal orders, or
 * turns the text beside it around.
 */
export function oneLine(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}+/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** A row of a list, its columns two spaces apart. */
export function lineOf(columns: readonly (string | number)[]): string {
  return columns.map((column) => oneLine(String(column))).join('  ')
}

/** JSON of a value, as {@link shownJson} writes it. */
export function jsonLine(value: unknown): string {
  return shownJson(JSON.stringify(value))
}

/** The same JSON with every character escaped that a terminal obeys, shows elsewhere or not at all. U+009B begins a command. */
export function shownJson(json: string): string {
  return json.replaceAll(
    /[\x7f-\x9f\u2028\u2029\ufeff\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
