// Imports a file of numbers, one a line.
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { phone } from '../core/phone.ts'
import { ownTurn } from '../core/turns.ts'
import { answerFile } from '../media/receive.ts'
import { insertSuppressions } from './suppressions.sql.ts'

export interface Imported {
  added: number
  existing: number
  invalid: number
}

const maxLines = 100_000
/** Lines that are read in one turn of the event loop: they take a few milliseconds. */
const linesPerTurn = 500
/** Numbers that are stored with one statement. */
const chunkSize = 5_000

/** Answers `POST suppressions/import`. @throws as {@link answerFile} and {@link importSuppressions}. */
export function importSuppressionFile(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  return answerFile(request, reply, ctx, {
    status: 200,
    use: (once, { path }) => importSuppressions(once, createReadStream(path)),
  })
}

/**
 * Adds the numbers of a file, all or none, and closes it. Empty lines do not count; a number that stands there twice is `existing` the
 * second time.
 * @throws VALIDATION_ERROR when the file has more than 100,000 lines.
 */
export async function importSuppressions(ctx: Context, file: Readable): Promise<Imported> {
  const { numbers, repeated, invalid } = await readNumbers(file)
  const { workspaceId } = ctx.principal
  return await write(ctx, async (tx) => {
    let added = 0
    // In the order of the index, so that two imports of one file do not deadlock.
    const sorted = numbers.toSorted().map((one) => ({ workspaceId, phone: one }))
    for (let from = 0; from < sorted.length; from += chunkSize) {
      added += (await insertSuppressions(tx, sorted.slice(from, from + chunkSize), 'manual')).length
    }
    return { added, existing: numbers.length - added + repeated, invalid }
  })
}

async function readNumbers(file: Readable): Promise<{ numbers: string[]; repeated: number; invalid: number }> {
  const numbers = new Set<string>()
  let [lines, repeated, invalid] = [0, 0, 0]
  try {
    for await (const line of createInterface({ input: file, crlfDelay: Number.POSITIVE_INFINITY })) {
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
    file.destroy()
  }
  return { numbers: [...numbers], repeated, invalid }
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
