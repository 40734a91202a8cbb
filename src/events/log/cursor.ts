// Cursors of the event log. They are encrypted: event numbers in plain text would show how much happens in other workspaces.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { hourMs } from '../../core/durations.ts'
import type { Sealer } from '../../core/seal.ts'

/** An event of a workspace, as cursors name it. */
export interface Marked {
  /** Its number; 0 stands for the time before the first event. */
  seq: bigint
  /**
   * Tells whether the log still has the same event under that number: after a restore, or after the loss of a primary that was replicated
   * asynchronously, it gives the numbers of lost events to others. Made from the random end of the id; undefined in cursors of the version before.
   */
  mark: number | undefined
}

/** A position in the log: its reader has seen every event of the workspace up to this one. */
export interface Place extends Marked {
  /** The time of the event, or the time at which the end of the log was read. Rounded up, so that no cursor expires early; down in one without a mark. */
  at: Date
}

/** Content of a cursor: a position, or the plain number `old` of a legacy cursor, which was not encrypted. */
export type Opened = { place: Place; old: undefined } | { place: undefined; old: bigint }

const blockBytes = 16
const seqAt = 8

/** A process of the version before reads the three bytes before the number as the hour, so marks begin where they stand for an hour to come. */
const firstMark = 32
const marks = 512 - firstMark
const timeBits = 15
/** A position with a mark has its time in quarters of a day since 2020, until 2042. */
const sinceMs = Date.UTC(2020, 0)
const quarterMs = 6 * hourMs

/** One of 480 values, so another event under the same number has the same mark once in 480 times. */
export function markOf(id: string): number {
  return firstMark + (Number.parseInt(id.slice(-8), 16) % marks)
}

export function markedOf({ seq, id }: { seq: bigint; id: string }): Marked {
  return { seq, mark: markOf(id) }
}

function stampOf({ at, mark }: Place): number {
  if (mark === undefined) return Math.floor(at.getTime() / hourMs)
  // A clock can stand at 1970.
  return (mark << timeBits) | Math.max(0, Math.ceil((at.getTime() - sinceMs) / quarterMs))
}

function placeOf(seq: bigint, stamp: number): Place {
  const mark = stamp >> timeBits
  if (mark < firstMark) return { seq, mark: undefined, at: new Date(stamp * hourMs) }
  return { seq, mark, at: new Date(sinceMs + (stamp & ((1 << timeBits) - 1)) * quarterMs) }
}

/**
 * Encrypts a position into a cursor. The cursor of a position is the same each time, on every process with the same SECRET_KEY. It is
 * one AES block: five zero bytes that reveal a forged cursor, the mark and the time in three bytes, the number in eight bytes. The key is
 * derived for the workspace.
 */
export function sealCursor(sealer: Sealer, workspaceId: string, place: Place): string {
  const block = Buffer.alloc(blockBytes)
  block.writeUIntBE(stampOf(place), seqAt - 3, 3)
  block.writeBigUInt64BE(place.seq, seqAt)
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
  return { place: placeOf(block.readBigUInt64BE(seqAt), block.readUIntBE(seqAt - 3, 3)), old: undefined }
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
