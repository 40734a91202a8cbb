// Reads the length of an Ogg file with Opus, and tells it from other files.

/** Opus always counts 48,000 samples a second. */
const samplesPerSecond = 48_000
/** The first page holds only the header of Opus. */
const headBytes = 128
/** The largest page of Ogg: 27 bytes, 255 lengths, and 255 segments of 255 bytes. */
const mostPageBytes = 27 + 255 + 255 * 255

/**
 * Seconds, at least 1; undefined for any other file. The last page of the file says how many samples there are, so that no more than a page
 * is kept in memory.
 */
export async function opusSeconds(chunks: AsyncIterable<Uint8Array>): Promise<number | undefined> {
  let head = Buffer.alloc(0)
  let tail = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (head.length < headBytes) head = Buffer.concat([head, chunk]).subarray(0, headBytes)
    tail = Buffer.concat([tail, chunk]).subarray(-mostPageBytes)
  }
  if (head.toString('latin1', 0, 4) !== 'OggS' || !head.includes('OpusHead')) return undefined
  const last = tail.lastIndexOf('OggS')
  if (last < 0 || last + 14 > tail.length) return undefined
  const samples = Number(tail.readBigUInt64LE(last + 6))
  return Math.max(1, Math.round(samples / samplesPerSecond))
}
