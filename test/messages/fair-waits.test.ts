// A message that must wait for another transaction of its caller delays the messages of no other account.
import { expect, it } from 'vitest'
import type { Idempotency } from '../../src/core/context.ts'
import { newId } from '../../src/core/id.ts'
import { sendMessage, sendMessages } from '../../src/messages/service.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from './rig.ts'

const to = '+4915112345678'
const keyOf = (key: string): Idempotency => ({ key, fingerprint: Buffer.from(key), replayed: false })

async function openTwo() {
  const databaseUrl = await cloneDatabase()
  const [busy, other] = await Promise.all([createAccount(databaseUrl), createAccount(databaseUrl)])
  const [mine, theirs] = await Promise.all([busy, other].map((account) => connectedInstance(databaseUrl, account)))
  const app = await openApp(databaseUrl)
  const contactId = newId()
  const pool = sql(databaseUrl)
  await pool.query(`insert into contacts (id, "workspaceId", name, phone, "updatedAt") values ($1, $2, 'Ada', $3, now())`, [
    contactId,
    busy.workspaceId,
    to,
  ])
  const message = { to, type: 'text', text: 'hello' } as const
  const ofBusy = { ...message, instanceId: mine?.id ?? '' }
  return {
    contactId,
    busy,
    holder: await pool.connect(),
    waiting: async () =>
      (await pool.query(`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)).rowCount,
    send: (input: object = {}, key?: string) =>
      sendMessage({ ...contextFor(app, busy), idempotency: key ? keyOf(key) : null }, { ...ofBusy, ...input }),
    sendBulk: (input: object) =>
      sendMessages({ ...contextFor(app, busy), idempotency: null }, [
        { ...ofBusy, ...input },
        { ...ofBusy, text: 'two' },
      ]),
    sendBulkOfOther: () =>
      sendMessages({ ...contextFor(app, other), idempotency: null }, [
        { ...message, instanceId: theirs?.id ?? '' },
        { ...message, instanceId: theirs?.id ?? '' },
      ]),
    sendOfOther: (key?: string) =>
      sendMessage(
        { ...contextFor(app, other), idempotency: key ? keyOf(key) : null },
        { ...message, instanceId: theirs?.id ?? '' },
      ),
  }
}

it('accepts the messages of others while those to a contact wait that is being deleted', async () => {
  const { contactId, holder, waiting, send, sendBulk, sendOfOther } = await openTwo()
  await holder.query('begin')
  await holder.query('select from contacts where id = $1 for update', [contactId])
  const named = [1, 2, 3].map(() => send({ contactId }))
  const numbered = [send(), sendBulk({})]
  await until(async () => ((await waiting()) ?? 0) >= 5)
  await expect(sendOfOther()).resolves.toMatchObject({ status: 'queued' })
  expect(await waiting()).toBe(5)
  await holder.query('commit')
  holder.release()
  for (const message of await Promise.all(named)) expect(message).toMatchObject({ contactId, status: 'queued' })
  await Promise.all(numbered)
})

it('accepts the messages of others while those wait whose Idempotency-Key another request has', async () => {
  const { busy, holder, waiting, send, sendOfOther } = await openTwo()
  await holder.query('begin')
  await holder.query(`insert into idempotency_keys ("workspaceId", key, fingerprint) values ($1, 'held', '\\x00')`, [
    busy.workspaceId,
  ])
  const held = [1, 2, 3].map(() => send({}, 'held'))
  await until(async () => ((await waiting()) ?? 0) >= 3)
  await expect(sendOfOther()).resolves.toMatchObject({ status: 'queued' })
  await expect(sendOfOther('held')).resolves.toMatchObject({ status: 'queued' })
  expect(await waiting()).toBe(3)
  await holder.query('rollback')
  holder.release()
  const ids = (await Promise.all(held)).map(({ id }) => id)
  expect(new Set(ids).size).toBe(1)
})

it('accepts the bulks of others while all those of one account wait', async () => {
  const { busy, holder, waiting, send, sendBulk, sendBulkOfOther } = await openTwo()
  await send()
  await holder.query('begin')
  await holder.query('select from usage where "userId" = $1 for update', [busy.userId])
  const bulks = [1, 2, 3, 4, 5].map(() => sendBulk({}))
  await until(async () => (await waiting()) === 2)
  await expect(sendBulkOfOther()).resolves.toMatchObject({ rejected: [] })
  expect(await waiting()).toBe(2)
  await holder.query('rollback')
  holder.release()
  for (const { rejected } of await Promise.all(bulks)) expect(rejected).toEqual([])
})
