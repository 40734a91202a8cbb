// Cursors of the event log: sealed, so that nobody reads from one, or from two, how much happened in other workspaces.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Sealer } from '../../core/seal.ts'

/** A place in the log: its reader has seen everything of the workspace up to the event numbered `seq`. */
export interface Place {
  seq: bigint
  /** When that was so, as hours since 1970: when the event happened, or when the end of the log was looked at. */
  hour: number
}

/** What a cursor holds: a place, or the bare number `old` in the form of before, which was not sealed. */
export type Opened = { place: Place; old: undefined } | { place: undefined; old: bigint }

const hourMs = 3_600_000
const blockBytes = 16
const seqAt = 8

export function placeAt(seq: bigint, at: Date): Place {
  return { seq, hour: Math.floor(at.getTime() / hourMs) }
}

/** The moment that a place is of, at the latest an hour too early. */
export function timeOf({ hour }: Place): Date {
  return new Date(hour * hourMs)
}

/**
 * The cursor of a place, the same each time and on every process with the same SECRET_KEY. It is one AES block: five zero bytes by
 * which a forged one is known, the hour in three, the number in eight, encrypted under a key of the workspace's own.
 */
export function sealCursor(sealer: Sealer, workspaceId: string, { seq, hour }: Place): string {
  const block = Buffer.alloc(blockBytes)
  block.writeUIntBE(hour, seqAt - 3, 3)
  block.writeBigUInt64BE(seq, seqAt)
  // One block of random-looking bytes needs no chaining; equal places are meant to look alike.
  const cipher = createCipheriv('aes-256-ecb', keyOf(sealer, workspaceId), null).setAutoPadding(false)
  return cipher.update(block).toString('base64url')
}

/** What a cursor that was given to this workspace holds; undefined for anything else. */
export function openCursor(sealer: Sealer, workspaceId: string, cursor: string): Opened | undefined {
  const bytes = cursor.length <= 40 ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0)
  // The same bytes have other spellings, none of which was given out.
  if (bytes.toString('base64url') !== cursor) return undefined
  return openSealed(sealer, workspaceId, bytes) ?? openOld(bytes)
}

function openSealed(sealer: Sealer, workspaceId: string, bytes: Buffer): Opened | undefined {
  if (bytes.length !== blockBytes) return undefined
  const decipher = createDecipheriv('aes-256-ecb', keyOf(sealer, workspaceId), null).setAutoPadding(false)
  const block = decipher.update(bytes)
  if (block.readUIntBE(0, seqAt - 3) !== 0) return undefined
  return { place: { seq: block.readBigUInt64BE(seqAt), hour: block.readUIntBE(seqAt - 3, 3) }, old: undefined }
}

/** The form of before: `e1:` and the number, readable by everybody. */
function openOld(bytes: Buffer): Opened | undefined {
  // A number that Postgres has no room for was never given out.
  const [, digits] = /^e1:(0|[1-9]\d{0,17})$/.exec(bytes.toString('latin1')) ?? []
  return digits === undefined ? undefined : { place: undefined, old: BigInt(digits) }
}

function keyOf(sealer: Sealer, workspaceId: string): Buffer {
  return sealer.derive(`event cursors of ${workspaceId}`)
}
