// Answers with a CSV file that is read from the database while the client receives it, so that its size does not matter.
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Cell, csvLines } from '../csv.ts'
import { allowLongStall } from './connection.ts'

export interface CsvFile {
  /** Name of the file, without its extension. */
  name: string
  /** The first line: the titles of the columns. */
  titles: readonly string[]
  /** The rows, some hundred at a time. The next ones are asked for when the client has received the ones before (backpressure). */
  pages: AsyncIterable<readonly (readonly Cell[])[]>
}

/** Sends the file; for HEAD, its headers. If reading fails on the way, the connection closes before the end of the answer. */
export async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, titles, pages }: CsvFile,
): Promise<FastifyReply> {
  reply.headers({
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
  })
  if (request.method === 'HEAD') return await reply.send()
  allowLongStall(reply.raw)
  return await reply.send(Readable.from(linesOf({ titles, pages }), { objectMode: false }))
}

/** Rows per turn of the event loop. 100 rows of the longest texts take 20 ms to write, and as long to read. */
const rowsPerTurn = 20

/** The lines of the file, in pieces that leave turns of the event loop to others. */
export async function* linesOf({ titles, pages }: Pick<CsvFile, 'titles' | 'pages'>): AsyncGenerator<string> {
  yield csvLines([titles])
  for await (const rows of pages) {
    for (let from = 0; from < rows.length; from += rowsPerTurn) {
      await setImmediate()
      yield csvLines(rows.slice(from, from + rowsPerTurn))
    }
  }
}
