// Many receipts of one instance delay those of no other instance.
import { expect, it } from 'vitest'
import { applyReceipts, reportReceipts } from '../../src/messages/receipts/receipts.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { Receipt } from '../../src/providers/reports.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from './rig.ts'

/** An App, and a receipt for a message of each of two accounts. */
async function twoReceipts() {
  const databaseUrl = await cloneDatabase()
  const accounts = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const app = await openApp(databaseUrl)
  const receipts: Receipt[] = []
  for (const [i, account] of accounts.entries()) {
    const { id: instanceId } = await connectedInstance(databaseUrl, account)
    const message = { instanceId, to: '+4915112345678', type: 'text', text: 'hello' } as const
    const { id: messageId } = await sendMessage(contextFor(app, account), message)
    const sent = { instanceId, messageId, providerMessageId: `sent ${i}`, status: 'sent', at: new Date() } as const
    expect(await applyReceipts(app, [sent])).toEqual(['applied'])
    receipts.push({ ...sent, status: 'delivered' })
  }
  const [mine, theirs] = receipts as [Receipt, Receipt]
  return { databaseUrl, app, mine, theirs }
}

it('applies a receipt of one instance while the message of another one is locked', async () => {
  const { databaseUrl, app, mine, theirs } = await twoReceipts()
  const holder = await sql(databaseUrl).connect()
  await holder.query('begin')
  await holder.query('select from messages where id = $1 for update', [mine.messageId])
  const waiting = reportReceipts(app, [mine])
  expect(await reportReceipts(app, [theirs])).toEqual(['applied'])
  await holder.query('rollback')
  holder.release()
  expect(await waiting).toEqual(['applied'])
})

it('applies a receipt of one instance while large posts of another one wait', async () => {
  const { databaseUrl, app, mine, theirs } = await twoReceipts()
  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from messages where id = $1 for update', [mine.messageId])
  const waiting = async () =>
    (await pool.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).rowCount
  const large: Promise<unknown>[] = []
  for (const count of [1, 2]) {
    large.push(reportReceipts(app, Array<Receipt>(50).fill(mine)))
    await until(async () => (await waiting()) === count)
  }
  large.push(reportReceipts(app, Array<Receipt>(50).fill(mine)))
  expect(await reportReceipts(app, [theirs])).toEqual(['applied'])
  expect(await waiting()).toBe(2)
  await holder.query('rollback')
  holder.release()
  const results = (await Promise.all(large)).flat()
  expect(results.filter((result) => result === 'applied')).toHaveLength(1)
})
