// Cancels messages of campaigns that must not leave any more.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { announceChange, subject } from '../../events/live/follow.ts'
import { emit } from '../../events/log/emit.ts'
import { messageEvent } from '../events.ts'
import { dropExpiries } from './dispatch-job.ts'
import { lockMessagesOf, readUnsentTo, storeWithdrawn, type Withdrawn } from './withdraw.sql.ts'

/** Messages per statement: few enough for its time limit. */
const atOnce = 1_000

/**
 * Cancels the messages of all campaigns to these contacts that no provider has, in the transaction that deletes the contacts and holds
 * their row locks. Returns what must be called last in the transaction: it returns the quota, whose row lock other sends wait for.
 */
export async function withdrawFrom(
  app: App,
  tx: Sql,
  contactIds: readonly string[],
  batch = atOnce,
): Promise<() => Promise<void>> {
  await lockMessagesOf(tx, contactIds)
  const rows: Withdrawn[] = []
  for (;;) {
    const unsent = await readUnsentTo(tx, contactIds, batch)
    const errors = unsent.map(({ id }) => ({ id, error: 'CONTACT_DELETED' }))
    rows.push(...(await withdrawMessages(tx, errors)))
    await dropExpiries(app, tx, unsent)
    if (unsent.length < batch) return () => returnQuota(tx, rows)
  }
}

/** Cancels messages whose row locks the transaction `tx` holds. Returns them; the caller gives their quota back, as after `failMessages`. */
export async function withdrawMessages(tx: Sql, withdrawn: readonly { id: string; error: string }[]): Promise<Withdrawn[]> {
  if (withdrawn.length === 0) return []
  const rows = await storeWithdrawn(
    tx,
    withdrawn.map(({ id }) => id),
    withdrawn.map(({ error }) => error),
  )
  const now = new Date()
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'cancelled', now)),
  )
  const campaigns = new Set(rows.flatMap(({ campaignId }) => campaignId ?? []))
  for (const id of [...campaigns].sort()) await announceChange(tx, subject('campaign', id))
  return rows
}
