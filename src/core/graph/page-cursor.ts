// Cursors of keyset pages: what the last row was sorted by and its id, sealed to the list that they are of.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { fail } from '../errors.ts'
import { text } from '../validation.ts'

/** A place holds what is sorted by: in the worst case 200 characters that JSON writes with six each. */
const maxCursorLength = 2_048

const position = z.tuple([z.string(), z.union([z.string(), z.number()]), z.guid()])

/** What lists are sorted by. Whoever knows what a list is bound to can seal anything, which the database must still take. */
const values = { time: z.int().min(0).max(8.64e15), text: text(0, maxCursorLength) }

export type SortedBy = keyof typeof values

/** The list and the place in it, so that a cursor that was altered or taken elsewhere does not fit. */
function sealOf(binding: string, value: unknown, id: unknown): string {
  return createHash('sha256')
    .update(`${binding}\n${JSON.stringify([value, id])}`)
    .digest('base64url')
    .slice(0, 16)
}

/** The cursor of a row, by what the list sorts by and its id. */
export function encodePlace(binding: string, sorted: unknown, id: string): string {
  const value = sorted instanceof Date ? sorted.getTime() : sorted
  return Buffer.from(JSON.stringify([sealOf(binding, value, id), value, id])).toString('base64url')
}

/** @throws VALIDATION_ERROR naming the argument `name`. */
export function decodePlace(
  cursor: string,
  binding: string,
  sortedBy: SortedBy,
  name: string,
): { value: Date | string; id: string } {
  const [seal, value, id] = positionOf(cursor) ?? []
  if (seal === undefined || value === undefined || id === undefined) fail('VALIDATION_ERROR', `${name}: is not a cursor`)
  if (seal !== sealOf(binding, value, id)) fail('VALIDATION_ERROR', `${name}: is not a cursor of this list, sort and filters`)
  if (!values[sortedBy].safeParse(value).success) fail('VALIDATION_ERROR', `${name}: is not a cursor`)
  return { value: typeof value === 'string' ? value : new Date(value), id }
}

function positionOf(cursor: string): z.output<typeof position> | undefined {
  const bytes = Buffer.from(cursor, 'base64url')
  // The same bytes have other spellings, none of which was given out.
  if (cursor.length > maxCursorLength || bytes.toString('base64url') !== cursor) return undefined
  try {
    return position.safeParse(JSON.parse(bytes.toString())).data
  } catch {
    return undefined
  }
}
