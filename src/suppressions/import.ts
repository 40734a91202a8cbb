// Imports a file of numbers, one a line.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../core/context.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { answerFile } from '../media/receive.ts'
import { type NumbersFile, readNumbers } from './numbers.ts'
import { insertSuppressions } from './suppressions.sql.ts'

export interface Imported {
  added: number
  existing: number
  invalid: number
}

/** Numbers that are stored with one statement. */
const chunkSize = 5_000

/** Answers `POST suppressions/import`. @throws as {@link answerFile} and {@link importSuppressions}. */
export function importSuppressionFile(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  return answerFile(request, reply, ctx, { status: 200, use: importSuppressions })
}

/**
 * Adds the numbers of a file, all or none, and closes it. Empty lines do not count; a number that stands there twice is `existing` the
 * second time.
 * @throws VALIDATION_ERROR when the file has more than 100,000 lines.
 */
export async function importSuppressions(ctx: Context, file: NumbersFile): Promise<Imported> {
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
