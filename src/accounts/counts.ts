// Sliding-window counters per e-mail address or network, kept in PostgreSQL and shared by all processes.
import { createHash } from 'node:crypto'
import type { Sql } from '../core/database/database.ts'
import type { ExpiredRows } from '../core/jobs/prune.sql.ts'
import { addDelayed, addWithin, type Bound, type Delay, deleteCounts, secondsOfBounds, secondsOfDelay } from './counts.sql.ts'

/** The timestamp of the counted event. If the event was rejected: null, and the seconds until the next one may be counted. */
export type Counted = { at: Date } | { at: null; waitSeconds: number }

/**
 * Returns the 32-byte key of a counter. The half derived from `subject` alone comes first, so that {@link forgetCounts} finds all counters
 * of a subject by a range scan of the primary key.
 */
export function countDigest(subject: string, part = ''): Buffer {
  return Buffer.concat([halfDigest(subject), halfDigest(part)])
}

function halfDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16)
}

/** Counts one event under `digest` unless a bound is reached. Concurrent calls never exceed a bound. */
export async function countOne(sql: Sql, digest: Buffer, bounds: readonly Bound[]): Promise<Counted> {
  const at = await addWithin(sql, digest, bounds)
  return at ? { at } : { at: null, waitSeconds: Math.max(1, await secondsOfBounds(sql, digest, bounds)) }
}

/** Counts one event under `digest` unless its backoff delay is still running. Exact for concurrent calls. */
export async function countDelayed(sql: Sql, digest: Buffer, delay: Delay): Promise<Counted> {
  const at = await addDelayed(sql, digest, delay)
  return at ? { at } : { at: null, waitSeconds: Math.max(1, await secondsOfDelay(sql, digest, delay)) }
}

/** Deletes all counters of a subject, or only the counter of `part` if it is given. */
export async function forgetCounts(sql: Sql, subject: string, part?: string): Promise<void> {
  const [first, last] = part === undefined ? [Buffer.alloc(16), Buffer.alloc(16, 0xff)] : [halfDigest(part), halfDigest(part)]
  await deleteCounts(sql, Buffer.concat([halfDigest(subject), first]), Buffer.concat([halfDigest(subject), last]))
}

/** Counters that were not updated for a day. No window is longer than a day. */
export const expiredCounts: ExpiredRows = { table: 'email_counts', where: `"updatedAt" < now() - interval '1 day'` }
