// Applies the network's receipts for outbound messages. Late, duplicate and out-of-order receipts change nothing.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { NewEvent } from '../../events/log/define.ts'
import { emit } from '../../events/log/emit.ts'
import { optedOut, type Receipt, type ReceiptStatus } from '../../providers/provider.ts'
import { insertSuppressions } from '../../suppressions/service.ts'
import { messageEvent } from '../events.ts'
import { type Change, lockMessages, type ReceiptRow, storeReceipts } from './receipts.sql.ts'
import { reached } from './status-order.ts'

/**
 * Applies receipts in one transaction and emits one event for each status that a message newly reaches. Returns the receipts of unknown
 * messages. These are worth a retry, because a provider can answer faster than our own commit.
 */
export async function applyReceipts(app: App, receipts: readonly Receipt[]): Promise<Receipt[]> {
  const unknown = await sqlTransaction(app.pool, async (tx) => {
    const rows = await lockMessages(tx, receipts)
    const byPosition = new Map(rows.filter((row) => !row.earlier).map((row) => [row.position, row]))
    const before = Map.groupBy(
      rows.filter((row) => row.earlier),
      (row) => row.position,
    )
    const changes = new Map<string, Change>()
    const events: NewEvent[] = []
    function apply(row: ReceiptRow, receipt: Receipt): void {
      const change = changes.get(row.id) ?? { row, status: row.status as ReceiptStatus, error: null, detail: null, at: {} }
      for (const status of reached(change.status, receipt.status)) {
        change.status = status
        change.at[status] = receipt.at
        if (status === 'failed') {
          change.error = receipt.error ?? 'PROVIDER_ERROR'
          change.detail = receipt.detail ?? null
        }
        const providerMessageId = row.providerMessageId ?? receipt.providerMessageId ?? null
        changes.set(row.id, { ...change, row: { ...row, providerMessageId } })
        events.push(messageEvent({ ...row, providerMessageId, error: change.error }, status, receipt.at))
      }
    }
    for (const [i, receipt] of receipts.entries()) {
      const row = byPosition.get(i + 1)
      if (!row) continue
      // The network takes messages to one number in order. A report on a later one may arrive first, from another process: the earlier
      // ones are sent all the same, and their events come first.
      if (receipt.status !== 'failed') {
        for (const earlier of before.get(i + 1) ?? [])
          apply(earlier, { ...receipt, status: 'sent', providerMessageId: undefined })
      }
      apply(row, receipt)
    }
    await storeReceipts(tx, [...changes.values()])
    const unwanted = [...changes.values()].filter(({ error }) => error === optedOut)
    await insertSuppressions(
      tx,
      unwanted.map(({ row }) => ({ workspaceId: row.workspaceId, phone: row.to })),
      'network',
    )
    await emit(tx, events)
    return receipts.filter((_, i) => !byPosition.has(i + 1))
  })
  app.signals.emit('outbox')
  return unknown
}
