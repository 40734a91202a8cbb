// Refuses bodies that come in very many small chunks. Each chunk costs a callback and a buffer of its own, some hundred times the weight of a
// one-byte chunk: 24 bodies of 1 MiB sent that way took 5 GB and kept the event loop busy for 1.7 s.
import { IncomingMessage } from 'node:http'
import { refuseSmallChunks } from '../core/http/connection.ts'

/** So many chunks may be of any size. */
const freeChunks = 4_096
/** Beyond {@link freeChunks}, the least size of a chunk on average. */
const leastAverageBytes = 128

/** A request whose chunked body is cut off, and its connection closed with 400, once its chunks are too many and too small. */
export class GuardedRequest extends IncomingMessage {
  #chunks = 0
  #bytes = 0
  #refused = false

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    // Without chunks, what is pushed is what one read of the socket brought.
    if (!Buffer.isBuffer(chunk) || this.headers['transfer-encoding'] === undefined) return super.push(chunk, encoding)
    if (this.#refused) return false
    this.#chunks++
    this.#bytes += chunk.length
    if (this.#chunks <= freeChunks || this.#bytes >= this.#chunks * leastAverageBytes) return super.push(chunk, encoding)
    this.#refused = true
    refuseSmallChunks(this.socket)
    return false
  }
}
