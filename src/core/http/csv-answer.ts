// Answers with a CSV file that is read from the database while the client receives it, so that its size does not matter.
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Cell, csvLines } from '../csv.ts'

/** Closes connections whose client reads nothing for this long, or up to twice as long (slow-read protection). */
const stalledMs = 15_000

export interface CsvFile {
  /** Name of the file, without its extension. */
  name: string
  columns: readonly string[]
  /** The rows, some hundred at a time. The next ones are asked for when the client has received the ones before (backpressure). */
  pages: AsyncIterable<readonly (readonly Cell[])[]>
}

/** Sends the file; for HEAD, its headers. If reading fails on the way, the connection closes before the end of the answer. */
export async function sendCsv(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, columns, pages }: CsvFile,
): Promise<FastifyReply> {
  reply.headers({
    'Content-Type': 'text/csv; charset=utf-8',
    'Content-Disposition': `attachment; filename="${name}.csv"`,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-store',
  })
  if (request.method === 'HEAD') return await reply.send()
  reply.raw.setTimeout(stalledMs, () => reply.raw.destroy())
  return await reply.send(Readable.from(linesOf(columns, pages), { objectMode: false }))
}

async function* linesOf(columns: readonly string[], pages: CsvFile['pages']): AsyncGenerator<string> {
  yield csvLines([columns])
  for await (const rows of pages) {
    if (rows.length > 0) yield csvLines(rows)
  }
}
