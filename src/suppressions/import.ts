// Imports a file of numbers, one a line.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../core/context.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { writeInPieces } from '../core/idempotency/idempotency.ts'
import { answerFile } from '../media/receive.ts'
import { type NumbersFile, readNumbers } from './numbers.ts'
import { insertSuppressions } from './suppressions.sql.ts'

export interface Imported {
  added: number
  existing: number
  invalid: number
}

/**
 * Numbers that are stored at once. The outcomes of all sends wait together for a number that one of them has to add: 2.8 s in place of 0.5 s
 * beside one transaction of 100,000.
 */
const chunkSize = 1_000

/** Answers `POST suppressions/import`. @throws as {@link answerFile} and {@link importSuppressions}. */
export function importSuppressionFile(request: FastifyRequest, reply: FastifyReply, ctx: Context): Promise<FastifyReply> {
  return answerFile(request, reply, ctx, { status: 200, use: importSuppressions })
}

/**
 * Adds the numbers of a file, and closes it. Empty lines do not count; a number that stands there twice is `existing` the second time. If the
 * process dies, the same request goes on, and counts what was added before as `existing`.
 * @throws VALIDATION_ERROR when the file has more than 100,000 lines.
 */
export async function importSuppressions(ctx: Context, file: NumbersFile): Promise<Imported> {
  const { numbers, repeated, invalid } = await readNumbers(file)
  const { workspaceId } = ctx.principal
  const work = async (): Promise<Imported> => {
    let added = 0
    // In the order of the index, so that two imports of one file do not deadlock.
    const sorted = numbers.toSorted().map((one) => ({ workspaceId, phone: one }))
    for (let from = 0; from < sorted.length; from += chunkSize) {
      const chunk = sorted.slice(from, from + chunkSize)
      added += (await sqlTransaction(ctx.app.pool, (tx) => insertSuppressions(tx, chunk, 'manual'))).length
    }
    return { added, existing: numbers.length - added + repeated, invalid }
  }
  return await writeInPieces(ctx, work, () => true)
}
