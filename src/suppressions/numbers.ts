// Reads a file of numbers, one a line, in turns of the event loop.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { fail } from '../core/errors.ts'
import { phone } from '../core/phone.ts'
import { ownTurn } from '../core/turns.ts'

/** A file on the disk of this machine, or its text. */
export type NumbersFile = { path: string } | { text: string }

const maxLines = 100_000
/** Lines that are read in one turn of the event loop: they take a few milliseconds. */
const linesPerTurn = 500
/** Bytes or characters that are split in one turn, which take as long: each may be an empty line. */
const sliceLength = 16 * 1024

/**
 * The distinct numbers of the file, which is closed then. Empty lines do not count.
 * @throws VALIDATION_ERROR when the file has more than 100,000 lines.
 */
export async function readNumbers(file: NumbersFile): Promise<{ numbers: string[]; repeated: number; invalid: number }> {
  const numbers = new Set<string>()
  let [lines, repeated, invalid] = [0, 0, 0]
  // One slice at a time: slices that wait would be split one after the other without a turn between them.
  const input = Readable.from(slicesOf(file), { highWaterMark: 1 })
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      const word = plain(line)
      if (word === '') continue
      if (++lines > maxLines) fail('VALIDATION_ERROR', `file: must have at most ${maxLines} lines`)
      if (lines % linesPerTurn === 0) await ownTurn()
      const { data: number } = phone.safeParse(word)
      if (number === undefined) invalid++
      else if (numbers.has(number)) repeated++
      else numbers.add(number)
    }
  } finally {
    // The interface leaves its input open when the loop ends before the file does.
    input.destroy()
  }
  return { numbers: [...numbers], repeated, invalid }
}

async function* slicesOf(file: NumbersFile): AsyncGenerator<Buffer | string> {
  const slices = 'path' in file ? createReadStream(file.path, { highWaterMark: sliceLength }) : slicesOfText(file.text)
  for await (const slice of slices as AsyncIterable<Buffer> | Iterable<string>) {
    yield slice
    await ownTurn()
  }
}

function* slicesOfText(text: string): Generator<string> {
  for (let at = 0; at < text.length; at += sliceLength) yield text.slice(at, at + sliceLength)
}

/** Longer than any number with what programs put around it. */
const longestWord = 100

/**
 * A line without what programs put around its number: a byte order mark, quotes, and the apostrophe of our own exports. A longer line stays
 * as it is, and is no number: the expression takes the square of its length.
 */
function plain(line: string): string {
  const word = line.trim()
  return word.length > longestWord ? word : word.replace(/^[\s\uFEFF"']+|[\s"']+$/g, '')
}
