// Refuses request bodies of very many small chunks. Each chunk costs a callback and a buffer, about a hundred times the memory of a
// one-byte chunk: 24 such bodies of 1 MiB took 5 GB and blocked the event loop for 1.7 s.
import { IncomingMessage } from 'node:http'
import { refuseSmallChunks } from '../core/http/connection.ts'

/** Number of chunks that may have any size. */
const freeChunks = 4_096
/** Minimum average chunk size beyond {@link freeChunks}. */
const leastAverageBytes = 128

/** A request that is answered with 400, and its connection closed, when its chunked body has too many small chunks. */
export class GuardedRequest extends IncomingMessage {
  #chunks = 0
  #bytes = 0
  #refused = false

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    // The end is not passed on either: without the rest, the body may be a whole one, and would be executed although the client gets 400.
    if (this.#refused) return false
    // Without chunked encoding, `chunk` is the result of one read of the socket.
    if (!Buffer.isBuffer(chunk) || this.headers['transfer-encoding'] === undefined) return super.push(chunk, encoding)
    this.#chunks++
    this.#bytes += chunk.length
    if (this.#chunks <= freeChunks || this.#bytes >= this.#chunks * leastAverageBytes) return super.push(chunk, encoding)
    this.#refused = true
    refuseSmallChunks(this)
    return false
  }
}
