// Reads the length of an Ogg file with Opus, and tells it from other files.

/** Opus always counts 48,000 samples a second. */
const samplesPerSecond = 48_000

/** Seconds, at least 1; undefined for any other file. The last page of the file says how many samples there are. */
export function opusSeconds(bytes: Buffer): number | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'OggS' || !bytes.subarray(0, 128).includes('OpusHead')) return undefined
  const last = bytes.lastIndexOf('OggS')
  if (last + 14 > bytes.length) return undefined
  const samples = Number(bytes.readBigUInt64LE(last + 6))
  return Math.max(1, Math.round(samples / samplesPerSecond))
}
