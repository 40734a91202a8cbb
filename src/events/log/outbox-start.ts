// Remembers where the outbox begins, so that the relay does not read what it has deleted. While somebody holds an old snapshot, PostgreSQL keeps the
// deleted rows with their index entries, and each look from the first position on would read all of them.
import type { Sql } from '../../core/database/database.ts'
import { readFirst, readWriters, takePosition } from './outbox-start.sql.ts'

/** Looks at the outbox between two advances. */
const looksBetween = 16

export interface OutboxStart {
  /** No row up to this position is left, and none can appear. */
  after: bigint
  /** Counts a look. Call it outside a transaction, on the connection of the relay. */
  looked: () => Promise<void>
}

/**
 * Begins at the first position, for each leadership. Transactions commit in another order than they take positions, so a position is passed only
 * when every transaction that wrote when it was taken has ended: later ones take higher positions, and the rows of these are visible or gone.
 */
export function createOutboxStart(sql: Sql): OutboxStart {
  let looks = looksBetween - 1
  let taken: { position: bigint; writers: ReadonlySet<string> } | undefined
  const start: OutboxStart = {
    after: 0n,
    async looked() {
      if (++looks < looksBetween) return
      looks = 0
      const writers = await readWriters(sql)
      if (taken && ![...taken.writers].some((writer) => writers.has(writer))) {
        start.after = await readFirst(sql, start.after, taken.position)
        taken = undefined
      }
      if (taken) return
      // The order matters: a transaction with a lower position either still has its lock when the writers are read, or has ended.
      const position = await takePosition(sql)
      // The sequence was reset, for example by a restore.
      if (position <= start.after) start.after = 0n
      taken = { position, writers: await readWriters(sql) }
    },
  }
  return start
}
