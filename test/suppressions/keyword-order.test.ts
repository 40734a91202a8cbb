// Keywords that a network hands over late or again: the one that the sender wrote last counts, whenever it comes.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { receiveIn, receiveMessages } from '../../src/messages/receipts/inbound.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'
import { newNumber, newTenant, openRig, type Rig } from '../rest-compat/rig.ts'
import { listOf } from './rig.ts'

let rig: Rig
let app: App

beforeAll(async () => {
  rig = await openRig()
  app = await openApp(rig.databaseUrl)
})

/** Texts with the seconds after which they were written; those of one list come together. */
type Batches = readonly (readonly [text: string, seconds: number])[][]

it.each<[string, Batches, isListed: boolean]>([
  ['a START that comes again after a newer STOP', [[['STOP', 40]], [['START', 20]]], true],
  ['a STOP that comes after a newer START', [[['START', 40]], [['STOP', 20]]], false],
  [
    'a START together with the newer STOP, in the other order',
    [
      [
        ['STOP', 40],
        ['START', 20],
      ],
    ],
    true,
  ],
  ['a START of the same second as the STOP before it', [[['STOP', 20]], [['START', 20]]], false],
  ['a START after an older STOP, although both come late', [[['STOP', 20]], [['START', 40]]], false],
  ['a STOP after an older text that is no keyword', [[['Hello', 40]], [['STOP', 20]]], true],
])('%s', async (_, batches, isListed) => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const from = newNumber()
  const start = Date.now() - 60_000
  for (const batch of batches) {
    const messages = batch.map(([body, seconds]) => ({
      instanceId: tenant.instance.id,
      providerMessageId: `wamid.${Math.random()}`,
      from,
      type: 'text' as const,
      body,
      content: { kind: 'text' as const },
      at: new Date(start + seconds * 1_000),
    }))
    await receiveMessages(app, messages)
  }
  expect(await listOf(tenant)).toEqual(isListed ? [{ phone: from, reason: 'keyword' }] : [])
})

it('a START in a transaction beside that of the newer STOP waits for it, and has no effect', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const message = { instanceId: tenant.instance.id, from: newNumber(), type: 'text' as const, content: { kind: 'text' as const } }
  expect((await tenant.api.post('suppressions', { phone: message.from })).status).toBe(201)
  const at = new Date(Date.now() - 1_000)
  const start = { ...message, providerMessageId: 'sooner', body: 'START', at: new Date(at.getTime() - 5_000) }
  let received: Promise<unknown> | undefined
  await sqlTransaction(app.pool, async (tx) => {
    await receiveIn(app, tx, [{ ...message, providerMessageId: 'later', body: 'STOP', at }])
    received = receiveMessages(app, [start])
    const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`
    await until(async () => (await sql(rig.databaseUrl).query(waiting)).rowCount)
  })
  await received
  expect(await listOf(tenant)).toMatchObject([{ phone: message.from }])
})

it('a START that comes late leaves a number in the list that somebody added after it was written, and one that comes in time does not', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const message = { instanceId: tenant.instance.id, from: newNumber(), type: 'text' as const, content: { kind: 'text' as const } }
  expect((await tenant.api.post('suppressions', { phone: message.from })).status).toBe(201)
  const written = new Date(Date.now() - 600_000)
  await receiveMessages(app, [{ ...message, providerMessageId: 'late', body: 'START', at: written }])
  expect(await listOf(tenant)).toEqual([{ phone: message.from, reason: 'manual' }])
  await receiveMessages(app, [{ ...message, providerMessageId: 'in time', body: 'START', at: new Date() }])
  expect(await listOf(tenant)).toEqual([])
})

it('a STOP that comes after a newer START gets no reply, and its content tells nothing of its time', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  await tenant.api.put('suppression-settings', { reply: 'You are out' })
  const message = { instanceId: tenant.instance.id, from: newNumber(), type: 'text' as const, content: { kind: 'text' as const } }
  const start = Date.now() - 1_000
  await receiveMessages(app, [{ ...message, providerMessageId: 'later', body: 'START', at: new Date(start + 500) }])
  await receiveMessages(app, [{ ...message, providerMessageId: 'sooner', body: 'STOP', at: new Date(start) }])
  const { body } = await tenant.api.graphql('{ messages(first: 9) { nodes { body content } } }')
  const content = { kind: 'text' }
  expect(body.data.messages.nodes).toEqual([
    { body: 'STOP', content },
    { body: 'START', content },
  ])
})
