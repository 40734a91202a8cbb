// Reads the file of an import as records, piece by piece, so that memory does not grow with the file.
import { Readable } from 'node:stream'
import type { CsvError } from 'csv-parse'
import type { App } from '../../core/app.ts'
import { readPiece } from './import.sql.ts'

/** Bytes handed to the parser at once: it takes 3 ms for them, and holds the event loop for no longer. */
const sliceBytes = 32 * 1024

/** Most characters of a line: 50 values of 1,024 characters, each of which counts as two outside of the basic plane, and the other fields. */
const maxRecordLength = 250_000

/** Most cells of a line: spreadsheets have at most 18,278 columns. The limit of the parser does not count separators. */
export const maxCells = 25_000

export interface FileRecord {
  cells: string[]
  /** The line that it begins on; the first line is 1. */
  line: number
}

/** The file is no CSV from this line on. */
export class FileFault extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/**
 * The records of the file, the titles first; lines without any content are left out.
 * @throws FileFault when the file is no CSV.
 */
export async function* readRecords(app: Pick<App, 'pool'>, jobId: string): AsyncGenerator<FileRecord> {
  const first = await readPiece(app.pool, jobId, 0)
  const csv = await import('csv-parse')
  const delimiter = delimiterOf(first ?? Buffer.alloc(0))
  // The parser counts a carriage return and a line feed in a cell as two lines.
  let surplus = 0
  function lined(cells: string[], linesRead: number): FileRecord | null {
    const breaks = breaksIn(cells)
    const line = linesRead - surplus - breaks.characters
    surplus += breaks.characters - breaks.lines
    return cells.every((cell) => cell.trim() === '') ? null : { cells, line }
  }
  const parser = csv.parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    // The types of the package know no records but lists of cells.
    on_record: (cells, { lines }) => lined(cells, lines) as never,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRecordLength,
  })
  const source = Readable.from(slicesOf(app, jobId, delimiter))
  source.on('error', (error) => parser.destroy(error))
  source.pipe(parser)
  try {
    for await (const record of parser as AsyncIterable<FileRecord>) yield record
  } catch (error) {
    throw error instanceof csv.CsvError ? faultOf(error, surplus) : error
  } finally {
    source.destroy()
    parser.destroy()
  }
}

async function* slicesOf({ pool }: Pick<App, 'pool'>, jobId: string, delimiter: string): AsyncGenerator<Buffer> {
  const place: Place = { line: 1, cells: 1, isQuoted: false, last: 0 }
  for (let n = 0; ; n++) {
    const piece = await readPiece(pool, jobId, n)
    if (!piece) return
    for (let at = 0; at < piece.length; at += sliceBytes) {
      const slice = piece.subarray(at, at + sliceBytes)
      countCells(place, slice, delimiter)
      yield slice
      // Lets other work of the process run between two slices.
      await new Promise(setImmediate)
    }
  }
}

const [quote, lineFeed, carriageReturn] = [...Buffer.from('"\n\r')]

/** A place in a file. */
interface Place {
  line: number
  /** Cells so far of the table's line, which may span several lines of the file. */
  cells: number
  isQuoted: boolean
  last: number
}

/**
 * Counts the cells of each line, before the parser keeps them: 8 MB of separators alone took 1 GB. `bytes` follow `place`, which is moved
 * behind them.
 * @throws FileFault when a line has more than {@link maxCells}.
 */
function countCells(place: Place, bytes: Buffer, delimiter: string): void {
  const separator = delimiter.charCodeAt(0)
  for (const byte of bytes) {
    if (byte === quote) place.isQuoted = !place.isQuoted
    else if (byte === separator && !place.isQuoted) place.cells++
    else if (byte === lineFeed || byte === carriageReturn) {
      if (byte === carriageReturn || place.last !== carriageReturn) place.line++
      if (!place.isQuoted) place.cells = 1
    }
    if (place.cells > maxCells) throw new FileFault(place.line, `must have at most ${maxCells} cells in a line`)
    place.last = byte
  }
}

/** Counts the separators of the titles, outside of quotes. Empty lines may stand before them. */
export function delimiterOf(head: Buffer): ',' | ';' {
  let isQuoted = false
  let balance = 0
  for (const character of head.subarray(0, maxRecordLength).toString().trimStart()) {
    if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === '\n' || character === '\r')) break
    else if (!isQuoted && character === ';') balance++
    else if (!isQuoted && character === ',') balance--
  }
  return balance > 0 ? ';' : ','
}

function breaksIn(cells: readonly string[]): { lines: number; characters: number } {
  const breaks = { lines: 0, characters: 0 }
  for (const cell of cells) {
    // Most cells have none, and the search by an expression takes ten times as long.
    if (!cell.includes('\n') && !cell.includes('\r')) continue
    for (const [found] of cell.matchAll(/\r\n|[\r\n]/g)) {
      breaks.lines++
      breaks.characters += found.length
    }
  }
  return breaks
}

function faultOf(error: CsvError, surplus: number): FileFault {
  const line = Number((error as { lines?: unknown }).lines ?? 1) - surplus
  const messages: Record<string, string> = {
    CSV_MAX_RECORD_SIZE: `must have lines of at most ${maxRecordLength} characters`,
    CSV_QUOTE_NOT_CLOSED: 'has a quote without an end',
    INVALID_OPENING_QUOTE: 'has a quote inside a cell that does not begin with one',
    CSV_INVALID_CLOSING_QUOTE: 'has text behind the closing quote of a cell',
  }
  return new FileFault(line, messages[error.code] ?? 'is not valid CSV')
}
