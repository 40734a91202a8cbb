// A number is erased while the network has a message to it: if the network gives the message back, it is erased and not sent again.
import { expect, it } from 'vitest'
import { createContact, deleteContact } from '../../src/contacts/service.ts'
import { sendMessage } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { accepted, network, openWorker } from './network-rig.ts'
import { contextFor, openApp } from './rig.ts'

it('a message that the network gives back after its number was erased is not sent again', async () => {
  const own = await cloneDatabase()
  const account = await createAccount(own)
  const { id: instanceId } = await connectedInstance(own, account)
  const ctx = contextFor(await openApp(own), account)
  const net = network()
  const first = Promise.withResolvers<SendOutcome>()
  net.answer = (message) => (net.calls.length > 1 ? accepted(message) : first.promise)
  await openWorker(own, net)
  const to = '+393337001001'
  const contact = await createContact(ctx, { name: 'Zoe', phone: to })
  const { id } = await sendMessage(ctx, { instanceId, to, type: 'text', text: 'hello' })
  await until(() => net.calls.length === 1)
  await deleteContact(ctx, contact.id, true)
  const tried = `select from pgboss.job where name = 'messages.erase' and (state = 'retry' or retry_count > 0)`
  await until(async () => (await sql(own).query(tried)).rowCount === 1)
  first.resolve({ outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: 0 })
  await until(async () => (await sql(own).query('select from messages where id = $1', [id])).rowCount === 0)
  expect(net.calls.map((call) => call.id)).toEqual([id])
})
