// Parses the `Range` header of a download.
import type { ByteRange } from './store.ts'

/**
 * Reads a `Range` header for a file of `size` bytes. Returns the range, `null` for the whole file, or `undefined` for a range that the
 * file does not have. Several ranges and malformed headers mean the whole file, as the HTTP standard allows.
 */
export function readRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return null
  if (first === '') return Number(last) > 0 ? { start: Math.max(0, size - Number(last)), end: size - 1 } : undefined
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)]
  if (last !== '' && Number(last) < start) return null
  return start < size ? { start, end } : undefined
}
