// The caller's own name for a message: on every way to send, in the graph, in the payloads of its events, and as a filter.
import { beforeAll, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { until } from '../kit/until.ts'
import { campaign, expectRefusal, newNumber, newTenant, openRig, type Rig, template, text } from '../rest-compat/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

it('travels with a send, a schedule, a bulk item and a recipient of a campaign, and filters the list', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const { api } = tenant
  const reference = 'order 4711'
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  expect((await api.post('messages/send', text(tenant, { reference }))).status).toBe(201)
  await api.post('messages/schedule', text(tenant, { reference, scheduledAt }))
  await api.post('messages/bulk', { messages: [text(tenant, { reference }), text(tenant)] })
  const document = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { reference } }'
  const sent = await api.graphql(document, { input: text(tenant, { reference }) })
  expect(sent.body.data.sendMessage).toEqual({ reference })
  const { to } = text(tenant)
  const recipients = [{ to, reference }, { to: text(tenant).to }]
  const { scheduledAt: _, ...now } = campaign(tenant, { recipients })
  await api.post('campaigns', now)
  const ids = await until(async () => {
    const { messages } = (await api.get(`messages?reference=${encodeURIComponent(reference)}&limit=100`)).body.data
    return messages.length === 5 && messages.map(({ id }: { id: string }) => id)
  })
  const query = 'query ($filter: MessageFilter) { messages(filter: $filter, first: 50) { nodes { id reference } } }'
  const { nodes } = (await api.graphql(query, { filter: { reference } })).body.data.messages
  expect(nodes).toEqual(ids.map((id: string) => ({ id, reference })))
  expect((await rig.stranger.api.get('messages?reference=order+4711')).body.data.messages).toEqual([])
})

it('stands in the payloads of the message only where it was given', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  const named = (await tenant.api.post('messages/send', text(tenant, { reference: 'A-1' }))).body.data.id
  const bare = (await tenant.api.post('messages/send', text(tenant))).body.data.id
  const payloads = await until(async () => {
    const { body } = await tenant.api.graphql('{ events(first: 50) { nodes { payload } } }')
    const list = body.data.events.nodes.map(({ payload }: { payload: { messageId?: string } }) => payload)
    const ofBoth = [named, bare].map((id) => list.filter(({ messageId }: { messageId?: string }) => messageId === id))
    return ofBoth.every((some) => some.length === 3) && ofBoth
  })
  for (const payload of payloads[0] ?? []) expect(payload).toMatchObject({ reference: 'A-1' })
  for (const payload of payloads[1] ?? []) expect(payload).not.toHaveProperty('reference')
})

it('stands in the payloads of a campaign message that is cancelled: with its campaign, or because its number is suppressed', async () => {
  const { api, account } = await newTenant(rig.gateway, rig.databaseUrl)
  const instance = await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' })
  const tenant = { api, account, instance }
  const recipients = ['A-1', 'A-2'].map((reference) => ({ to: newNumber(), reference }))
  expect((await api.post('campaigns', campaign(tenant, { recipients, scheduledAt: undefined }))).status).toBe(201)
  await until(async () => (await api.get('messages')).body.data.messages.length === 2)
  await api.post('suppressions', { phone: recipients[0]?.to })
  await api.post(`instances/${instance.id}/connect`)
  const cancelled = async () => {
    const { body } = await api.graphql('{ events(first: 9, types: [message_cancelled]) { nodes { payload } } }')
    return body.data.events.nodes.map(({ payload }: { payload: { reference?: string } }) => payload.reference)
  }
  await until(async () => (await cancelled()).length === 1)
  expect(await cancelled()).toEqual(['A-1'])
  const away = await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' })
  const input = campaign({ ...tenant, instance: away }, { recipients: recipients.slice(1), scheduledAt: undefined })
  const other = (await api.post('campaigns', input)).body.data.id
  await until(async () => (await api.get(`messages?campaignId=${other}`)).body.data.messages.length === 1)
  await api.post(`campaigns/${other}/cancel`)
  await until(async () => (await cancelled()).length === 2)
  expect(await cancelled()).toEqual(['A-1', 'A-2'])
})

it('has 1 to 255 characters; null is left out', async () => {
  const { api } = rig.tenant
  expect((await api.post('messages/send', text(rig.tenant, { reference: null }))).status).toBe(201)
  expect((await api.post('messages/send', text(rig.tenant, { reference: '😀'.repeat(255) }))).status).toBe(201)
  for (const reference of ['', 'x'.repeat(256), 5]) {
    expectRefusal(await api.post('messages/send', text(rig.tenant, { reference })), 400, 'VALIDATION_ERROR', /^reference: must /)
  }
  const { id: templateId } = (await api.post('templates', template({ body: 'x' }))).body.data
  const input = { instanceId: rig.tenant.instance.id, to: text(rig.tenant).to, templateId, reference: 'T' }
  expect((await api.post('messages/send', input)).status).toBe(201)
})
