// The database is away amid a send: what surely did not leave is sent when it is back, and does not end as an unknown outcome.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { storeLeases } from '../../src/messages/dispatch/claim.sql.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { giveBack } from '../../src/messages/dispatch/give-back.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { accepted, network, openWorker, statesOf } from './network-rig.ts'
import { contextFor, openApp, openWorkspace } from './rig.ts'

/** A new account with a connected phone, and an App that reaches its database through a passage. */
async function openBehindPassage() {
  const own = await cloneDatabase()
  const account = await createAccount(own)
  const { id: instanceId } = await connectedInstance(own, account)
  const passage = await openPassage(Number(new URL(own).port))
  const app = await openApp(Object.assign(new URL(own), { host: `127.0.0.1:${passage.port}` }).href)
  return { own, passage, app, ctx: contextFor(app, account), instanceId }
}

it('a claim whose commit was not answered gives its messages back, as if they had not been claimed', async () => {
  const { own, passage, app, ctx, instanceId } = await openBehindPassage()
  const { id } = await sendMessage(ctx, { instanceId, to: '+393337001001', type: 'text', text: 'hello' })
  passage.loseAnswer('commit')
  await expect(claimMessages(app, [id])).rejects.toThrow('Connection terminated')
  await until(async () => (await claimMessages(app, [id])).claimed.length === 1)
  const { rows } = await sql(own).query('select status, attempts from messages where id = $1', [id])
  expect(rows).toEqual([{ status: 'sending', attempts: 1 }])
})

it('a claim that commits only after its process gave up on the answer gives its messages back, too', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  const { id } = await sendMessage(ctx, { instanceId, to: '+393337001004', type: 'text', text: 'hello' })
  const token = randomUUID()
  const claim = await sql(own).connect()
  await claim.query('begin')
  await storeLeases(claim, [{ id, token }])
  let isOver = false
  const given = giveBack(app, [{ id, token, contactId: null, mayHaveLeft: false }]).then(() => {
    isOver = true
  })
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => isOver || (await sql(own).query(waiting)).rowCount === 1)
  await claim.query('commit')
  claim.release()
  await given
  const { rows } = await sql(own).query('select "leaseToken", "handedAt", attempts from messages where id = $1', [id])
  expect(rows).toEqual([{ leaseToken: null, handedAt: null, attempts: 0 }])
})

it('messages whose acceptance was not answered by the database are not accepted again', async () => {
  const { own, passage, ctx, instanceId } = await openBehindPassage()
  passage.loseAnswer('commit', 'COMMIT')
  const sent = ['first', 'second'].map((text) => sendMessage(ctx, { instanceId, to: '+393337001003', type: 'text', text }))
  for (const { status } of await Promise.allSettled(sent)) expect(status).toBe('rejected')
  const stored = async () =>
    (await sql(own).query('select body from messages order by "createdAt", id')).rows.map(({ body }) => body)
  await until(async () => (await stored()).length > 0)
  expect(await stored()).toEqual(['first', 'second'])
})

it('an attempt that the network did not take is repeated, although the database was away when it ended', async () => {
  const own = await cloneDatabase()
  const { ctx, instanceId } = await openWorkspace(own)
  const net = network()
  const away = Promise.withResolvers<Awaited<ReturnType<typeof refuse>>>()
  net.answer = async (message) => {
    if (net.calls.length > 1) return accepted(message)
    away.resolve(await refuse(own, 'update', 'messages'))
    return { outcome: 'retry', error: 'PROVIDER_ERROR', afterMs: 0 }
  }
  await openWorker(own, net, { sendsOnce: () => false })
  const { id } = await sendMessage(ctx, { instanceId, to: '+393337001002', type: 'text', text: 'hello' })
  const end = await away.promise
  await end.happened()
  await end()
  await until(async () => net.calls.length > 1 || (await statesOf(own, [id]))[0] !== 'sending')
  expect(await statesOf(own, [id])).toEqual(['sending'])
  expect(net.calls.map((call) => call.id)).toEqual([id, id])
})
