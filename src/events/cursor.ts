// Cursors of the event log: opaque to callers, one and the same on every door.
import { fail } from '../core/errors.ts'

const prefix = 'e1:'

/** The cursor of the event numbered `seq`; whoever hands it back gets what comes after that event. */
export function encodeCursor(seq: bigint): string {
  return Buffer.from(prefix + seq).toString('base64url')
}

/** The number behind a cursor. @throws VALIDATION_ERROR naming `field` for anything {@link encodeCursor} did not make. */
export function decodeCursor(cursor: string, field: string): bigint {
  const text = cursor.length <= 40 ? Buffer.from(cursor, 'base64url').toString() : ''
  const digits = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  // A number that Postgres has no room for was never given out.
  if (!/^(0|[1-9]\d{0,17})$/.test(digits)) fail('VALIDATION_ERROR', `${field}: is not an event cursor`)
  return BigInt(digits)
}
