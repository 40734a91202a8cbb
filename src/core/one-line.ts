// Makes free text of users safe to show on an operator's terminal and in the log.

/**
 * Returns the text as one line, without control characters and bidirectional controls. A name can then not add lines, send
 * commands to the terminal, or reverse the text beside it.
 */
export function oneLine(text: string): string {
  return text
    .replaceAll(/\p{Bidi_Control}+/gu, '')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}

/** A row of a list, with two spaces between its columns. */
export function lineOf(columns: readonly (string | number)[]): string {
  return columns.map((column) => oneLine(String(column))).join('  ')
}

/** JSON of a value, escaped by {@link shownJson}. */
export function jsonLine(value: unknown): string {
  return shownJson(JSON.stringify(value))
}

/** Escapes every character of a JSON text that a terminal executes, shows in another place or does not show. U+009B begins a command. */
export function shownJson(json: string): string {
  return json.replaceAll(
    /[\x7f-\x9f\u2028\u2029\ufeff\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
