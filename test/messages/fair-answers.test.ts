// An answer that must wait for another transaction of its account delays the answers of no other account.
import { expect, it } from 'vitest'
import { hostFor } from '../../src/app.ts'
import { newId } from '../../src/core/id.ts'
import { sendDue } from '../../src/messages/dispatch/send.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { createMoves } from '../../src/providers/sandbox/moves.ts'
import { runDueSteps } from '../../src/providers/sandbox/steps.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from './rig.ts'

const to = '+393331110006'

it('takes in the answers of others while the contact of one is being deleted', async () => {
  const databaseUrl = await cloneDatabase()
  const accounts = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const app = await openApp(databaseUrl)
  const pool = sql(databaseUrl)
  const contactIds: string[] = []
  for (const account of accounts) {
    const { id: instanceId } = await connectedInstance(databaseUrl, account)
    const { id } = await sendMessage(contextFor(app, account), { instanceId, to, type: 'text', text: 'hello' })
    await sendDue(app, [id])
    const contactId = newId()
    contactIds.push(contactId)
    await pool.query(`insert into contacts (id, "workspaceId", name, phone, "updatedAt") values ($1, $2, 'Ada', $3, now())`, [
      contactId,
      account.workspaceId,
      to,
    ])
  }
  const due = async () =>
    (await pool.query(`select from sandbox_steps where kind = 'answer' and "dueAt" <= clock_timestamp()`)).rowCount
  await until(async () => (await due()) === 2)
  /** The contacts of the answers that came in. */
  const answered = async () =>
    (await pool.query<{ contactId: string }>(`select "contactId" from messages where direction = 'inbound'`)).rows.map(
      ({ contactId }) => contactId,
    )
  const host = hostFor(app, 'sandbox')
  const run = () => runDueSteps(app, host, createMoves(app, host), 5_000)

  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from contacts where id = $1 for update', [contactIds[0]])
  await run()
  expect(await answered()).toEqual([contactIds[1]])
  // It comes again, and waits again.
  await until(async () => (await due()) === 1)
  await run()
  expect(await answered()).toEqual([contactIds[1]])
  await holder.query('rollback')
  holder.release()
  await until(async () => (await run()) === 5_000 && (await answered()).length === 2)
  expect((await answered()).toSorted()).toEqual(contactIds.toSorted())
})
