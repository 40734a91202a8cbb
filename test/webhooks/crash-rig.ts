// One message whose webhook is attempted by a gateway that a test kills, freezes or stops.
import { expect } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type GatewayOptions, startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'

/** @param beforehand runs when the gateway is up and nothing has been sent yet */
export async function sendOne(
  env: GatewayOptions['env'],
  receiverUrl: string,
  beforehand: (databaseUrl: string) => Promise<void> = async () => {},
) {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const instance = await connectedInstance(databaseUrl, account)
  const gateway = await startGateway({ databaseUrl, env })
  await beforehand(databaseUrl)
  const client = api(gateway, account.apiKey)
  const webhook = (await client.post('webhooks', { url: receiverUrl, events: ['message.sent'] })).body.data
  const sent = await client.post('messages/send', { instanceId: instance.id, to: '+4915112345678', type: 'text', text: 'hello' })
  expect(sent.status).toBe(201)
  return { databaseUrl, account, gateway, webhook }
}

export async function delivered(gateway: { url: string }, apiKey: string, webhookId: string) {
  return await until(
    async () => {
      const { body } = await api(gateway, apiKey).get(`webhooks/${webhookId}/deliveries`)
      return body.data.deliveries.find((delivery: { status: string }) => delivery.status === 'delivered')
    },
    { everyMs: 250 },
  )
}
