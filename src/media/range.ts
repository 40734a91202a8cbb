// Which part of a file a request asks for.
import type { ByteRange } from './store.ts'

/**
 * Reads a `Range` header for a file of `size` bytes: the range, `null` for all of it, or `undefined` for one that is not
 * there. More ranges than one, and what cannot be read, mean all of it, as the standard lets servers do.
 */
export function readRange(header: string | undefined, size: number): ByteRange | null | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || first + last === '') return null
  if (first === '') return Number(last) > 0 ? { start: Math.max(0, size - Number(last)), end: size - 1 } : undefined
  const [start, end] = [Number(first), last === '' ? size - 1 : Math.min(Number(last), size - 1)]
  if (last !== '' && Number(last) < start) return null
  return start < size ? { start, end } : undefined
}
