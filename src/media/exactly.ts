// Passes a file on in exactly the length that its answer says. With fewer bytes, a client would take the next answer of its connection for the
// rest; with more, the rest for the next answer.
import { type Readable, Transform } from 'node:stream'

/** @throws on the stream, which ends the connection, where `source` has more or fewer bytes than `length`. */
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
