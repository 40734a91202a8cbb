// Many receipts of one instance, and those that wait for a lock, delay those of no other instance.
import { expect, it } from 'vitest'
import { applyReceipts, reportReceipts } from '../../src/messages/receipts/receipts.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { Receipt } from '../../src/providers/reports.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from './rig.ts'

/** An App, and receipts for a message of each instance of an account, and for one of another account. */
async function openReceipts(instances = 1) {
  const databaseUrl = await cloneDatabase()
  const [own, other] = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const accounts = [...Array.from({ length: instances }, () => own), other]
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
  const [theirs, ...ours] = receipts.toReversed() as [Receipt, Receipt]
  return { databaseUrl, app, ours, mine: ours[0], theirs }
}

/** How many statements wait for a lock. */
async function waitingIn(databaseUrl: string): Promise<number | null> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await sql(databaseUrl).query(waiting)).rowCount
}

it('applies a receipt of one instance while the message of another one is locked', async () => {
  const { databaseUrl, app, mine, theirs } = await openReceipts()
  const holder = await sql(databaseUrl).connect()
  await holder.query('begin')
  await holder.query('select from messages where id = $1 for update', [mine.messageId])
  const waiting = reportReceipts(app, [mine])
  expect(await reportReceipts(app, [theirs])).toEqual(['applied'])
  await holder.query('rollback')
  holder.release()
  expect(await waiting).toEqual(['applied'])
})

it('takes four connections at most for receipts whose messages are locked, however many instances they are of', async () => {
  const { databaseUrl, app, ours, theirs } = await openReceipts(8)
  const holder = await sql(databaseUrl).connect()
  await holder.query('begin')
  await holder.query('select from messages where id = any($1) for update', [ours.map(({ messageId }) => messageId)])
  const waiting = Promise.all(ours.map((receipt) => reportReceipts(app, [receipt])))
  await until(async () => Number(await waitingIn(databaseUrl)) >= 4)
  expect(await reportReceipts(app, [theirs])).toEqual(['applied'])
  expect(await waitingIn(databaseUrl)).toBe(4)
  await holder.query('rollback')
  holder.release()
  expect((await waiting).flat()).toEqual(ours.map(() => 'applied'))
})

it('applies a receipt of one instance while large posts of another one wait', async () => {
  const { databaseUrl, app, mine, theirs } = await openReceipts()
  const holder = await sql(databaseUrl).connect()
  await holder.query('begin')
  await holder.query('select from messages where id = $1 for update', [mine.messageId])
  const large: Promise<unknown>[] = []
  for (const count of [1, 2]) {
    large.push(reportReceipts(app, Array<Receipt>(50).fill(mine)))
    await until(async () => (await waitingIn(databaseUrl)) === count)
  }
  large.push(reportReceipts(app, Array<Receipt>(50).fill(mine)))
  expect(await reportReceipts(app, [theirs])).toEqual(['applied'])
  expect(await waitingIn(databaseUrl)).toBe(2)
  await holder.query('rollback')
  holder.release()
  const results = (await Promise.all(large)).flat()
  expect(results.filter((result) => result === 'applied')).toHaveLength(1)
})
