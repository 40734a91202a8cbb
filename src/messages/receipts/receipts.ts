// Applies the network's receipts for outbound messages. Late, duplicate and out-of-order receipts change nothing.
import type { App } from '../../core/app.ts'
import { createBatch, runApartOnFailure } from '../../core/batch.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { definePart } from '../../core/part.ts'
import { createShare } from '../../core/share.ts'
import type { NewEvent } from '../../events/log/define.ts'
import { emit } from '../../events/log/emit.ts'
import { applyChange, lockForChange } from '../../instances/state.ts'
import { optedOut } from '../../providers/outgoing.ts'
import type { Receipt, ReceiptResult, ReceiptStatus } from '../../providers/reports.ts'
import { insertSuppressions } from '../../suppressions/suppressions.sql.ts'
import { checkNow } from '../dispatch/hold-job.ts'
import { recipientKey } from '../dispatch/hold-key.ts'
import { messageEvent } from '../events.ts'
import { keepEarly } from './early-job.ts'
import { type Change, lockMessages, MessageInUse, type ReceiptRow, storeReceipts } from './receipts.sql.ts'
import { reached } from './status-order.ts'

const grouped = definePart((app) =>
  createBatch<readonly Receipt[], ReceiptResult[]>({
    max: 100,
    parallel: 2,
    run: (all) => runApartOnFailure(all, (reports) => applyTogether(app, reports)),
  }),
)

/** Applies reports in one transaction. Those whose message another transaction has locked get {@link MessageInUse}, and delay no others. */
async function applyTogether(app: App, reports: readonly (readonly Receipt[])[]): Promise<(ReceiptResult[] | Error)[]> {
  try {
    const results = await applyReceipts(app, reports.flat(), false)
    return reports.map((receipts) => results.splice(0, receipts.length))
  } catch (error) {
    if (!(error instanceof MessageInUse)) throw error
    const inUse = new Set(error.receipts)
    const mustWait = (receipts: readonly Receipt[]) => receipts.some((receipt) => inUse.has(receipt))
    const others = reports.filter((receipts) => !mustWait(receipts))
    const applied = others.length > 0 ? await applyTogether(app, others) : []
    return reports.map((receipts) => (mustWait(receipts) ? error : (applied.shift() as ReceiptResult[] | Error)))
  }
}

/**
 * Most receipts of a call that shares a transaction. Larger calls have transactions of their own, in which instances take turns: 60 posts of 500
 * receipts each, which one account sent at once, let a receipt of another account wait for 1.1 s in place of 0.2 s.
 */
const mostShared = 20
const large = definePart(() => createShare({ perCaller: 2, total: 4, mostWaiting: 1_000, waitMs: 30_000 }))
/** Calls that wait for other transactions, each on one of the ten connections of the process: an account may have twenty instances. */
const waiting = definePart(() => createShare({ perCaller: 1, total: 4, mostWaiting: 1_000, waitMs: 30_000 }))

/**
 * {@link applyReceipts}; a few of them in one transaction with those of concurrent calls (group commit), unless they must wait for another
 * transaction.
 */
export async function reportReceipts(app: App, receipts: readonly Receipt[]): Promise<ReceiptResult[]> {
  const [first] = receipts
  if (!first) return []
  const { instanceId } = first
  if (receipts.length > mostShared) return await large(app).during(instanceId, 1, () => applyReceipts(app, receipts))
  try {
    // A restriction locks its instance.
    if (!receipts.some(({ restricted }) => restricted)) return await grouped(app)(receipts)
  } catch (error) {
    if (!(error instanceof MessageInUse)) throw error
  }
  return await waiting(app).during(instanceId, 1, () => applyReceipts(app, receipts))
}

/**
 * Applies receipts in one transaction, and emits one event for each status that a message newly reaches. Those of unknown messages are kept
 * and applied again for two minutes, because a provider can answer faster than our own commit. Returns the effect of each receipt, in order.
 * @throws MessageInUse as {@link lockMessages} does.
 */
export async function applyReceipts(app: App, receipts: readonly Receipt[], waits = true): Promise<ReceiptResult[]> {
  const results = await sqlTransaction(app.pool, async (tx) => {
    const applied = await applyIn(app, tx, receipts, waits)
    await keepEarly(
      app,
      tx,
      receipts.filter((_, i) => applied[i] === 'unknown'),
    )
    return applied
  })
  app.signals.emit('outbox')
  return results
}

/** {@link applyReceipts} in the transaction of the calling function, which keeps the unknown ones and emits the signal `outbox` after the commit. */
export async function applyIn(app: App, tx: Sql, receipts: readonly Receipt[], waits = true): Promise<ReceiptResult[]> {
  // Instances are locked before their messages, as by everything else that locks both.
  const restricting = receipts.filter(({ restricted }) => restricted)
  for (const id of new Set(restricting.map(({ instanceId }) => instanceId).toSorted())) await lockForChange(tx, id)
  const { results, changes, events } = applyTo(await lockMessages(tx, receipts, waits), receipts)
  await storeReceipts(tx, changes)
  const unwanted = changes.filter(({ error }) => error === optedOut)
  await insertSuppressions(
    tx,
    unwanted.map(({ row }) => ({ workspaceId: row.workspaceId, phone: row.to })),
    'network',
  )
  await emit(tx, events)
  // Messages behind one whose outcome was unknown may leave now.
  const settled = changes.flatMap(({ row }) => (row.unsettled ? recipientKey(row) : []))
  await checkNow(app, tx, [...new Set(settled)])
  for (const [i, { instanceId, restricted, error, detail = error }] of receipts.entries()) {
    if (restricted && results[i] === 'applied')
      await applyChange(app, tx, { instanceId, restricted, atRisk: true, error: detail })
  }
  return results
}

interface Applied {
  /** The effect of each receipt, in order. */
  results: ReceiptResult[]
  /** One for each message that reached a status. */
  changes: Change[]
  events: NewEvent[]
}

/** Applies receipts to the locked rows of their messages, in memory. */
function applyTo(rows: readonly ReceiptRow[], receipts: readonly Receipt[]): Applied {
  const byPosition = new Map(rows.filter((row) => !row.earlier).map((row) => [row.position, row]))
  const before = Map.groupBy(
    rows.filter((row) => row.earlier),
    (row) => row.position,
  )
  const changes = new Map<string, Change>()
  const events: NewEvent[] = []
  function apply(row: ReceiptRow, receipt: Receipt): ReceiptResult {
    const change = changes.get(row.id) ?? { row, status: row.status as ReceiptStatus, error: null, detail: null, at: {} }
    const steps = reached(change.status, receipt.status)
    for (const status of steps) {
      change.status = status
      change.at[status] = receipt.at
      if (status === 'failed') {
        change.error = receipt.error ?? 'PROVIDER_ERROR'
        change.detail = receipt.detail ?? null
      }
      const providerMessageId = change.row.providerMessageId ?? receipt.providerMessageId ?? null
      changes.set(row.id, { ...change, row: { ...row, providerMessageId } })
      events.push(messageEvent({ ...row, providerMessageId, error: change.error }, status, receipt.at))
    }
    return steps.length > 0 ? 'applied' : 'duplicate'
  }
  const results = receipts.map((receipt, i): ReceiptResult => {
    const row = byPosition.get(i + 1)
    if (!row) return 'unknown'
    // The network takes messages to one number in order. A report on a later one may arrive first, from another process: the earlier
    // ones are sent all the same, and their events come first.
    if (receipt.status !== 'failed') {
      for (const earlier of before.get(i + 1) ?? []) apply(earlier, { ...receipt, status: 'sent', providerMessageId: undefined })
    }
    return apply(row, receipt)
  })
  return { results, changes: [...changes.values()], events }
}
