// Reads the file of an import as records, piece by piece, so that memory does not grow with the file.
import { Readable } from 'node:stream'
import type { CsvError } from 'csv-parse'
import type { App } from '../../core/app.ts'
import { readPiece } from './import.sql.ts'

/** Bytes handed to the parser at once: it takes 3 ms for them, and holds the event loop for no longer. */
const sliceBytes = 32 * 1024

/** Most characters of a line: 50 values of 1,024 characters, each of which counts as two outside of the basic plane, and the other fields. */
const maxRecordLength = 250_000

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
  const parser = csv.parse({
    bom: true,
    delimiter: delimiterOf(first ?? Buffer.alloc(0)),
    record_delimiter: ['\r\n', '\n', '\r'],
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    max_record_size: maxRecordLength,
  })
  const source = Readable.from(slicesOf(app, jobId))
  source.on('error', (error) => parser.destroy(error))
  source.pipe(parser)
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      yield { cells: record, line: info.lines - breaksIn(record) }
    }
  } catch (error) {
    throw error instanceof csv.CsvError ? faultOf(error) : error
  } finally {
    source.destroy()
    parser.destroy()
  }
}

async function* slicesOf({ pool }: Pick<App, 'pool'>, jobId: string): AsyncGenerator<Buffer> {
  for (let n = 0; ; n++) {
    const piece = await readPiece(pool, jobId, n)
    if (!piece) return
    for (let at = 0; at < piece.length; at += sliceBytes) {
      yield piece.subarray(at, at + sliceBytes)
      // Lets other work of the process run between two slices.
      await new Promise(setImmediate)
    }
  }
}

/** Counts the separators of the titles, outside of quotes. */
export function delimiterOf(head: Buffer): ',' | ';' {
  let isQuoted = false
  let balance = 0
  for (const character of head.subarray(0, maxRecordLength).toString()) {
    if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && (character === '\n' || character === '\r')) break
    else if (!isQuoted && character === ';') balance++
    else if (!isQuoted && character === ',') balance--
  }
  return balance > 0 ? ';' : ','
}

function breaksIn(cells: readonly string[]): number {
  let breaks = 0
  for (const cell of cells) {
    for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) breaks++
  }
  return breaks
}

function faultOf(error: CsvError): FileFault {
  const line = Number((error as { lines?: unknown }).lines ?? 1)
  const messages: Record<string, string> = {
    CSV_MAX_RECORD_SIZE: `must have lines of at most ${maxRecordLength} characters`,
    CSV_QUOTE_NOT_CLOSED: 'has a quote without an end',
    INVALID_OPENING_QUOTE: 'has a quote inside a cell that does not begin with one',
    CSV_INVALID_CLOSING_QUOTE: 'has text behind the closing quote of a cell',
  }
  return new FileFault(line, messages[error.code] ?? 'is not valid CSV')
}
