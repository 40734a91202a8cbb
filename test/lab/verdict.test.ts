// The verdict of the lab knows a message that overtook another one from one whose receipts did.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { sendDue } from '../../src/messages/dispatch/send.ts'
import { applyReceipts } from '../../src/messages/receipts/receipts.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { Receipt, ReceiptStatus } from '../../src/providers/reports.ts'
import { startWorker } from '../../src/worker.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { findSwapped } from './verdict.ts'

let databaseUrl: string
let app: App
let ctx: Context
let instanceId: string
let workspaceId: string
let numbers = 0

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  workspaceId = account.workspaceId
  instanceId = (await connectedInstance(databaseUrl, account)).id
  // Its network reports nothing, because no process has the role of a worker.
  app = await openApp(databaseUrl, { ROLES: 'http,relay' })
  ctx = contextFor(app, account)
  const relay = await startWorker(app)
  atEnd('test', () => relay[Symbol.asyncDispose]())
})

/** Sends two messages to one number, one after the other. */
async function sendTwo(): Promise<[first: string, second: string]> {
  const to = `+39333${++numbers}005555`
  const send = async () => {
    const { id } = await sendMessage(ctx, { instanceId, to, type: 'text', text: 'hello' })
    await sendDue(app, [id])
    // On a slow machine, the send may continue after its batch.
    const taken = async () =>
      (await sql(databaseUrl).query('select from sandbox_messages where reference = $1', [id])).rowCount === 1
    await until(taken)
    return id
  }
  return [await send(), await send()]
}

const begin = Date.now()

function receipt(messageId: string, status: ReceiptStatus, afterMs: number): Receipt {
  return { instanceId, messageId, providerMessageId: `sandbox.${messageId}`, status, at: new Date(begin + afterMs) }
}

/** Waits until the events of these messages are numbered. */
async function numbered(ids: readonly string[]): Promise<void> {
  const query = `select from events where type = 'message.sent' and "messageId" = any($1)`
  await until(async () => (await sql(databaseUrl).query(query, [ids])).rowCount === ids.length)
}

it('says nothing of messages that left in order and whose receipts came in another one', async () => {
  const [first, second] = await sendTwo()
  // A slow process has taken both of the first receipts, and a fast one the next: it knows of the first message only that it was delivered.
  await applyReceipts(app, [receipt(first, 'delivered', 400)])
  await applyReceipts(app, [receipt(first, 'sent', 200), receipt(second, 'sent', 230)])
  await numbered([first, second])
  expect(await findSwapped(sql(databaseUrl), workspaceId)).toEqual([])
})

it('names a message that left before an earlier one', async () => {
  const [first, second] = await sendTwo()
  await applyReceipts(app, [receipt(first, 'sent', 200), receipt(second, 'sent', 230)])
  await numbered([first, second])
  await sql(databaseUrl).query(
    `update sandbox_messages set "acceptedAt" = "acceptedAt" - interval '1 hour' where reference = $1`,
    [second],
  )
  expect(await findSwapped(sql(databaseUrl), workspaceId)).toMatchObject([{ id: second, earlier: first }])
})
