// `gateway reseal`: encrypts everything stored with the current SECRET_KEY, after a change of the key.
import { resealSigningKey } from '../accounts/sign-in/signing-key.ts'
import type { Sql } from '../core/database/database.ts'
import { createSealer } from '../core/seal.ts'
import { type Replacement, readSealed, replaceSealed, type SealedColumn, type Stored, sealedColumns } from './reseal.sql.ts'

export interface Keys {
  secretKey: Buffer
  previous: Buffer | undefined
}

/** Counts rows. `unreadable` lists at most {@link mostListed} of those that neither key decrypts; `unreadableCount` counts all. */
export interface Resealed {
  resealed: number
  current: number
  unreadableCount: number
  unreadable: { table: string; column: string; id: string }[]
}

const batchSize = 500
const mostListed = 100

export interface ResealOptions {
  /** Called after each batch. */
  progress?: (column: SealedColumn, sum: Resealed) => void
  /** Ends after this many batches that changed something, as if the process had ended. */
  mostBatches?: number
}

/**
 * Goes through every sealed column in batches. It keeps no state: values under the current key are skipped, so the command can end at any
 * moment and run again. A value that changes meanwhile is read again and not overwritten.
 */
export async function reseal(sql: Sql, keys: Keys, { progress, mostBatches = Infinity }: ResealOptions = {}): Promise<Resealed> {
  const sum: Resealed = { resealed: 0, current: 0, unreadableCount: 0, unreadable: [] }
  let batches = 0
  for (const column of sealedColumns) {
    let after: string[] | undefined
    for (;;) {
      const { rows, moved, same, unreadable } = await judge(sql, column, keys, after)
      if (rows.length === 0) break
      if (moved.length > 0) {
        const replaced = await replaceSealed(sql, column, moved)
        sum.resealed += replaced
        batches++
        // Read again what has changed meanwhile: a process with the previous key may have written it.
        if (replaced < moved.length) continue
      }
      sum.current += same
      sum.unreadableCount += unreadable.length
      const named = unreadable.map((id) => ({ table: column.table, column: column.column, id: id.join(' ') }))
      sum.unreadable.push(...named.slice(0, mostListed - sum.unreadable.length))
      progress?.(column, sum)
      if (batches >= mostBatches) return sum
      after = rows.at(-1)?.id
    }
  }
  return sum
}

/** Reads a batch, and tells what is under which key. `same` counts the rows that are under the current key. */
async function judge(sql: Sql, column: SealedColumn, keys: Keys, after: string[] | undefined) {
  const rows = await readSealed(sql, column, after, batchSize)
  const moved: Replacement[] = []
  const unreadable: string[][] = []
  for (const row of rows) {
    const next = await underCurrent(column, row.stored, keys)
    if (next === undefined) unreadable.push(row.id)
    else if (next !== row.stored) moved.push({ ...row, next })
  }
  return { rows, moved, unreadable, same: rows.length - moved.length - unreadable.length }
}

/** The same value if it is under the current key, a new one if it was under the previous key, undefined if neither decrypts it. */
async function underCurrent({ path }: SealedColumn, stored: Stored, { secretKey, previous }: Keys): Promise<Stored | undefined> {
  if (typeof stored === 'string' && !path) return await resealSigningKey(stored, secretKey, previous)
  const bytes = typeof stored === 'string' ? Buffer.from(stored, 'base64') : stored
  const current = createSealer(secretKey)
  if (current.tryOpen(bytes)) return stored
  const plain = previous && createSealer(previous).tryOpen(bytes)
  const next = plain && current.seal(plain)
  return path ? next?.toString('base64') : next
}

/** Tables whose rows do not expire by themselves within days. */
const lasting = new Set(['auth_jwks', 'webhook_endpoints', 'instances', 'web_creds', 'web_keys'])

/** Counts the lasting values that still need the previous key. */
export async function countUnderPrevious(sql: Sql, keys: Keys): Promise<number> {
  let count = 0
  for (const column of sealedColumns.filter(({ table }) => lasting.has(table))) {
    let after: string[] | undefined
    for (;;) {
      const { rows, moved } = await judge(sql, column, keys, after)
      if (rows.length === 0) break
      count += moved.length
      after = rows.at(-1)?.id
    }
  }
  return count
}
