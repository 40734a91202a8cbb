// Passes a file on with exactly the length that its response declares. With fewer bytes, a client would take the next response on the
// connection for the rest. With more bytes, it would take the surplus for the next response.
import { type Readable, Transform } from 'node:stream'

/** @throws Error on the stream, which ends the connection, when `source` has more or fewer bytes than `length`. */
export function exactly(length: number, source: Readable): Readable {
  let left = length
  const exact = new Transform({
    transform(chunk: Buffer, _, done) {
      const fitting = chunk.subarray(0, left)
      const isTooLong = chunk.length > left
      left -= fitting.length
      if (fitting.length > 0) this.push(fitting)
      done(isTooLong ? new Error('the stored file is longer than it was') : null)
    },
    flush: (done) => done(left > 0 ? new Error('the stored file is shorter than it was') : null),
  })
  source.on('error', (error) => exact.destroy(error))
  exact.on('close', () => source.destroy())
  return source.pipe(exact)
}
