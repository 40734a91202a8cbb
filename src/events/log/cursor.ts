// Cursors of the event log. They are encrypted: event numbers in plain text would show how much happens in other workspaces.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { hourMs } from '../../core/durations.ts'
import type { Sealer } from '../../core/seal.ts'

/** A position in the log: its reader has seen every event of the workspace up to number `seq`. */
export interface Place {
  seq: bigint
  /** Hours since 1970, at the time of the event or at the time when the end of the log was read. */
  hour: number
}

/** Content of a cursor: a position, or the plain number `old` of a legacy cursor, which was not encrypted. */
export type Opened = { place: Place; old: undefined } | { place: undefined; old: bigint }

const blockBytes = 16
const seqAt = 8

export function placeAt(seq: bigint, at: Date): Place {
  return { seq, hour: Math.floor(at.getTime() / hourMs) }
}

/** The time of a position, rounded down to the hour. */
export function timeOf({ hour }: Place): Date {
  return new Date(hour * hourMs)
}

/**
 * Encrypts a position into a cursor. The cursor of a position is the same each time, on every process with the same SECRET_KEY. It is
 * one AES block: five zero bytes that reveal a forged cursor, the hour in three bytes, the number in eight bytes. The key is derived
 * for the workspace.
 */
export function sealCursor(sealer: Sealer, workspaceId: string, { seq, hour }: Place): string {
  const block = Buffer.alloc(blockBytes)
  block.writeUIntBE(hour, seqAt - 3, 3)
  block.writeBigUInt64BE(seq, seqAt)
  // A single block needs no chaining, so ECB mode is safe. Equal positions are meant to have equal cursors.
  const cipher = createCipheriv('aes-256-ecb', sealer.derive(purposeOf(workspaceId)), null).setAutoPadding(false)
  return cipher.update(block).toString('base64url')
}

/** Decodes a cursor that was issued to this workspace, or a legacy cursor. Returns undefined for anything else. */
export function openCursor(sealer: Sealer, workspaceId: string, cursor: string): Opened | undefined {
  const bytes = cursor.length <= 40 ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0)
  // Base64url allows several spellings of the same bytes. Only the canonical one is ever issued.
  if (bytes.toString('base64url') !== cursor) return undefined
  const purpose = purposeOf(workspaceId)
  return openSealed(sealer.derive(purpose), bytes) ?? openSealed(sealer.derivePrevious(purpose), bytes) ?? openOld(bytes)
}

function openSealed(key: Buffer | undefined, bytes: Buffer): Opened | undefined {
  if (!key || bytes.length !== blockBytes) return undefined
  const decipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  const block = decipher.update(bytes)
  if (block.readUIntBE(0, seqAt - 3) !== 0) return undefined
  return { place: { seq: block.readBigUInt64BE(seqAt), hour: block.readUIntBE(seqAt - 3, 3) }, old: undefined }
}

/** Decodes a legacy cursor: `e1:` and the number, unencrypted. */
function openOld(bytes: Buffer): Opened | undefined {
  // At most 18 digits, so that the number fits a PostgreSQL bigint.
  const [, digits] = /^e1:(0|[1-9]\d{0,17})$/.exec(bytes.toString('latin1')) ?? []
  return digits === undefined ? undefined : { place: undefined, old: BigInt(digits) }
}

function purposeOf(workspaceId: string): string {
  return `event cursors of ${workspaceId}`
}
