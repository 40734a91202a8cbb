// Copies rows from one database into another by COPY, in bounded memory: reading stops while the other side takes nothing.
import { pipeline } from 'node:stream/promises'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Client } from './client.ts'

const newline = 10

/** Says that reading failed, and not writing. `cause` is the error. */
export class ReadFailed extends Error {}

/**
 * Copies what `from.text` (COPY … TO STDOUT) reads into `to.text` (COPY … FROM STDIN), and returns the number of rows that were read. Calls
 * `onRows` with that number so far, now and then. After a failure neither connection can be used.
 * @throws ReadFailed when `from` fails; the error of `to` itself.
 */
export async function copyRows(
  from: { client: Client; text: string },
  to: { client: Client; text: string },
  onRows: (count: number) => void,
): Promise<number> {
  let count = 0
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
    for await (const chunk of chunks) {
      // Each row ends with a newline; those inside of values are written in another way.
      for (const byte of chunk) if (byte === newline) count++
      onRows(count)
      yield chunk
    }
  }
  const [reading, writing] = [from.client.query(copyTo(from.text)), to.client.query(copyFrom(to.text))]
  // The failure of one stream ends the other one, too.
  let first: unknown
  for (const stream of [reading, writing]) stream.once('error', () => (first ??= stream))
  await pipeline(reading, counted, writing).catch((error: Error) => {
    throw first === reading ? new ReadFailed(error.message, { cause: error }) : error
  })
  return count
}
