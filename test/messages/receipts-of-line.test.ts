// Receipts for many messages to one number, as after an hour in which a network could not report.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { lockMessages } from '../../src/messages/receipts/receipts.sql.ts'
import { applyReceipts } from '../../src/messages/receipts/receipts.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { Receipt, ReceiptStatus } from '../../src/providers/reports.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

const to = '+393331115556'

/** Messages to one number that the network has accepted, in the order in which they left, and a receipt for one of them. */
async function acceptedLine(count: number) {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push((await sendMessage(ctx, { instanceId, to, type: 'text', text: 'hello' })).id)
  const pool = sql(databaseUrl)
  await pool.query(`update messages set status = 'sending', "acceptedAt" = now() where "instanceId" = $1`, [instanceId])
  const receipt = (n: number, status: ReceiptStatus): Receipt => ({ instanceId, messageId: ids[n], status, at: new Date() })
  const statuses = async () => {
    const { rows } = await pool.query('select id, status from messages where "instanceId" = $1', [instanceId])
    return ids.map((id) => rows.find((row) => row.id === id).status)
  }
  return { app, receipt, statuses }
}

it('read each message once, however many later ones they report', async () => {
  const { app, receipt } = await acceptedLine(20)
  const receipts = Array.from({ length: 20 }, (_, n) => receipt(n, 'sent'))
  const rows = await sqlTransaction(app.pool, (tx) => lockMessages(tx, receipts))
  expect(rows.filter(({ earlier }) => !earlier)).toHaveLength(20)
  expect(rows.filter(({ earlier }) => earlier)).toHaveLength(19)
})

it('say that earlier messages were sent, but not when a later one failed', async () => {
  const { app, receipt, statuses } = await acceptedLine(5)
  await applyReceipts(app, [receipt(4, 'failed'), receipt(2, 'delivered'), receipt(0, 'read')])
  expect(await statuses()).toEqual(['read', 'sent', 'delivered', 'sending', 'failed'])
})
