// Answers of the network about a message that come after the gateway stopped to wait for them.
import { beforeAll, expect, it } from 'vitest'
import { sendDue } from '../../src/messages/dispatch/send.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback, rowsOf, sendsWith } from './rig.ts'

const ann = '393331234567'

let databaseUrl: string
let network: Loopback
let gateway: InnerGateway
let client: Client

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback(ann)
  gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  client = await openClient(databaseUrl, gateway)
})

const message = async (id: string) => (await client.api.get(`messages/${id}`)).body.data

/** Sends a message whose sender has stopped to wait when the network refuses it with that code. Returns its id. */
async function refusedLate(instanceId: string, code: string): Promise<string> {
  const before = await sendsWith(gateway, 'unknown')
  hasten(gateway, { ackMs: 0 })
  const late = Promise.withResolvers<void>()
  network.acksAfter = late.promise
  network.refusals = [code]
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'refused late' })
  await until(async () => (await sendsWith(gateway, 'unknown')) === before + 1)
  hasten(gateway, { ackMs: 6_000 })
  network.acksAfter = undefined
  late.resolve()
  return body.data.id
}

it('a refusal fails the message, and puts the account at risk', async () => {
  const instanceId = await client.pair(network, '390000000067')
  const id = await refusedLate(instanceId, '463')
  expect(await until(async () => (await message(id)).error)).toBe('ACCOUNT_RESTRICTED')
  const isAtRisk = async () =>
    (await rowsOf(databaseUrl, 'select "atRiskAt" from instances where id = $1', [instanceId]))[0].atRiskAt
  expect(await until(isAtRisk)).toBeInstanceOf(Date)
  expect(network.arrived.filter(({ from }) => from === '390000000067')).toEqual([])
})

it('a request to send less fails nothing: the message is sent again', async () => {
  const account = '390000000068'
  const id = await refusedLate(await client.pair(network, account), '429')
  // The network sends this message after the refusal, so the gateway has handled the refusal once this message is stored.
  const stanzaId = await network.write(ann, account, { conversation: 'Hi' })
  await until(async () => (await rowsOf(databaseUrl, 'select from messages where "providerMessageId" = $1', [stanzaId])).length)
  expect(await message(id)).toMatchObject({ status: 'sending', error: null })
  // As when the lease is over.
  await sql(databaseUrl).query('update messages set "leaseUntil" = now() where id = $1', [id])
  await sendDue(gateway.app, [id])
  await until(async () => (await message(id)).status === 'sent')
  expect(network.arrived.filter(({ from }) => from === account)).toHaveLength(1)
})

it('a refusal of a copy, for which its recipient asked, leaves a message sent that the network took before', async () => {
  const account = '390000000069'
  const instanceId = await client.pair(network, account)
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'taken' })
  const { id } = body.data
  await until(async () => (await message(id)).status === 'sent')
  const { providerMessageId } = await message(id)
  network.refusals = ['479']
  network.askAgain(account, providerMessageId, ann)
  await until(() => network.refusals.length === 0)
  network.receipt(account, providerMessageId, ann)
  await until(async () => (await message(id)).status === 'delivered')
})
