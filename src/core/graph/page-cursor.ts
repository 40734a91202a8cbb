// Cursors of keyset pagination: sort value and id of a row, with a hash that binds them to one list.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { fail } from '../errors.ts'
import { text } from '../validation.ts'

/** A cursor holds the sort value: in the worst case 200 characters that JSON escapes with six characters each. */
const maxCursorLength = 2_048

const position = z.tuple([z.string(), z.union([z.string(), z.number()]), z.guid()])

/**
 * Schemas of sort values. The hash has no secret, so anybody who knows the binding of a list can forge a cursor; the database
 * must be able to take every value.
 */
const values = { time: z.int().min(0).max(8.64e15), number: z.int().min(0), text: text(0, maxCursorLength) }

export type SortedBy = keyof typeof values

/** Hash over list and position, so that an altered cursor, or one of another list, does not fit. */
function hashOf(binding: string, value: unknown, id: unknown): string {
  return createHash('sha256')
    .update(`${binding}\n${JSON.stringify([value, id])}`)
    .digest('base64url')
    .slice(0, 16)
}

/** Encodes the cursor of a row from its sort value and its id. */
export function encodeCursor(binding: string, sorted: unknown, id: string): string {
  const value = sorted instanceof Date ? sorted.getTime() : sorted
  return Buffer.from(JSON.stringify([hashOf(binding, value, id), value, id])).toString('base64url')
}

/** Decodes a cursor. @throws VALIDATION_ERROR when it is malformed or of another list; the message names the argument `name`. */
export function decodeCursor(
  cursor: string,
  binding: string,
  sortedBy: SortedBy,
  name: string,
): { value: Date | string | number; id: string } {
  const [hash, value, id] = positionOf(cursor) ?? []
  if (hash === undefined || value === undefined || id === undefined) fail('VALIDATION_ERROR', `${name}: is not a cursor`)
  if (hash !== hashOf(binding, value, id)) fail('VALIDATION_ERROR', `${name}: is not a cursor of this list, sort and filters`)
  if (!values[sortedBy].safeParse(value).success) fail('VALIDATION_ERROR', `${name}: is not a cursor`)
  return { value: sortedBy === 'time' ? new Date(value) : value, id }
}

function positionOf(cursor: string): z.output<typeof position> | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // The same bytes have other encodings, none of which was ever issued.
  if (cursor.length > maxCursorLength || bytes.toString('base64url') !== cursor) return undefined
  try {
    return position.safeParse(JSON.parse(bytes.toString())).data
  } catch {
    return undefined
  }
}
