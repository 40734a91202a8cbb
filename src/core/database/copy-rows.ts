// Copies rows from one database into another by COPY, in bounded memory: reading stops while the other side takes nothing.
import type { Duplex } from 'node:stream'
import type pg from 'pg'
import { type Client, joinWrites } from './client.ts'

/** What COPY needs of pg's connection. pg's types declare the first two only. */
interface Wire {
  stream: Duplex
  query: (text: string) => void
  sendCopyFromChunk: (chunk: Buffer) => void
  endCopyFrom: () => void
}

/** The messages of the server during a COPY, as pg hands them to a query of one's own. */
interface CopyStatement extends pg.Submittable {
  handleCopyInResponse: () => void
  handleCopyData: (message: { chunk: Buffer }) => void
  handleCommandComplete: (message: { text: string }) => void
  handleReadyForQuery: () => void
  handleError: (error: Error) => void
}

interface Copying {
  wire: Wire
  /** Resolves when the server waits for rows. */
  opened: Promise<void>
  /** Resolves with the number of rows. */
  done: Promise<number>
}

/** Begins a COPY. `onRow` receives each row that the server sends; its memory is valid during the call only. */
function begin(client: Client, text: string, onRow: (row: Buffer) => void): Copying {
  const opened = Promise.withResolvers<void>()
  const done = Promise.withResolvers<number>()
  let count = 0
  const statement: CopyStatement = {
    submit: (connection) => connection.query(text),
    handleCopyInResponse: () => opened.resolve(),
    handleCopyData: ({ chunk }) => onRow(chunk),
    handleCommandComplete(message) {
      count = Number(message.text.split(' ')[1])
    },
    handleReadyForQuery: () => done.resolve(count),
    handleError(error) {
      opened.reject(error)
      done.reject(error)
    },
  }
  // Each failure is awaited later, or is a consequence of one that is.
  opened.promise.catch(() => {})
  done.promise.catch(() => {})
  client.query(statement)
  return { wire: client.connection as unknown as Wire, opened: opened.promise, done: done.promise }
}

/**
 * Copies what `from.text` (COPY … TO STDOUT) reads into `to.text` (COPY … FROM STDIN), and returns the number of rows that were read. Calls
 * `onRows` with that number so far, now and then. After a failure neither connection can be used.
 */
export async function copyRows(
  from: { client: Client; text: string },
  to: { client: Client; text: string },
  onRows: (count: number) => void,
): Promise<number> {
  const target = begin(to.client, to.text, () => {})
  await target.opened
  let count = 0
  const source = begin(from.client, from.text, (row) => {
    joinWrites(target.wire.stream)
    target.wire.sendCopyFromChunk(row)
    if (++count % 10_000 === 0) onRows(count)
    if (target.wire.stream.writableNeedDrain && !source.wire.stream.isPaused()) {
      source.wire.stream.pause()
      target.wire.stream.once('drain', () => source.wire.stream.resume())
    }
  })
  try {
    // The target answers before the source has ended only if it fails.
    await Promise.race([source.done, target.done])
    target.wire.endCopyFrom()
    await target.done
    return await source.done
  } catch (error) {
    // A paused source would never end.
    source.wire.stream.destroy()
    target.wire.stream.destroy()
    throw error
  }
}
