// Proves that live streams tell what makes lists stale: queuing, cancelling, campaigns and contacts. The graph's subscription tells
// it by itself, the plain stream if asked, and webhooks never.
import { beforeAll, describe, expect, it } from 'vitest'
import { until } from '../kit/until.ts'
import { openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'
import { openSse, type SseReader } from './sse.ts'

let rig: Rig
let tenant: Tenant
let contactId: string
let campaignId: string
/** The cursor before anything happened. */
let start: string

const live = ['message_queued', 'message_cancelled', 'campaign_changed', 'contact_changed']
const follow = `subscription ($after: String, $types: [EventType!]) { events(after: $after, types: $types) {
  type cursor payload message { id status } instance { id } campaign { id name } contact { id name } } }`

interface Told {
  type: string
  cursor: string
  payload: Record<string, unknown>
  [field: string]: unknown
}

async function subscribe(variables: Record<string, unknown>): Promise<SseReader> {
  const headers = { 'x-api-key': tenant.account.apiKey }
  return await openSse(`${rig.gateway.url}/graphql`, { headers, body: { query: follow, variables } })
}

const told = (reader: SseReader): Told[] =>
  reader.events.flatMap(({ data }) => (data ? [JSON.parse(data).data?.events] : [])).filter(Boolean)

async function plain(query: string): Promise<SseReader> {
  const headers = { 'x-api-key': tenant.account.apiKey }
  return await openSse(`${rig.gateway.url}/api/v1/events/stream${query}`, { headers })
}

beforeAll(async () => {
  rig = await openRig()
  tenant = rig.tenant
  const { api, instance } = tenant
  const { body } = await api.graphql('{ events(last: 1) { pageInfo { endCursor } } }')
  start = body.data.events.pageInfo.endCursor
  const later = new Date(Date.now() + 3_600_000).toISOString()
  contactId = (await api.post('contacts', { name: 'Ada', phone: '+393331234567' })).body.data.id
  await api.put(`contacts/${contactId}`, { name: 'Ada B.' })
  const scheduled = await api.post('messages/schedule', text(tenant, { scheduledAt: later }))
  await api.post(`messages/${scheduled.body.data.id}/cancel`)
  const campaign = { instanceId: instance.id, name: 'Spring', type: 'text', text: 'Hi', scheduledAt: later }
  campaignId = (await api.post('campaigns', { ...campaign, recipients: [{ to: '+4915112345005' }] })).body.data.id
  await api.post(`campaigns/${campaignId}/pause`)
  await api.post(`campaigns/${campaignId}/resume`)
  await api.post('messages/send', text(tenant))
  await api.delete(`contacts/${contactId}`)
})

describe("the graph's subscription", () => {
  it('tells queuing, cancelling, campaigns and contacts in the order of their commits, with the rows that they are about', async () => {
    const reader = await subscribe({ after: start })
    await until(() => told(reader).some(({ type }) => type === 'message_read') && told(reader).length >= 12)
    const events = told(reader)
    const kinds = events
      .filter(({ type }) => live.includes(type))
      .map(({ type, payload }) => [type, payload.change ?? payload.status])
    expect(kinds).toEqual([
      ['contact_changed', 'created'],
      ['contact_changed', 'updated'],
      ['message_queued', 'queued'],
      ['message_cancelled', 'cancelled'],
      ['campaign_changed', 'scheduled'],
      ['campaign_changed', 'paused'],
      ['campaign_changed', 'scheduled'],
      ['message_queued', 'queued'],
      ['contact_changed', 'deleted'],
    ])
    const [first, , queued, cancelled, campaign] = events
    expect(first).toMatchObject({ payload: { contactId, event: 'contact.changed' }, message: null, instance: null })
    expect(queued?.message).toEqual({ id: queued?.payload.messageId, status: 'cancelled' })
    expect(cancelled).toMatchObject({ message: queued?.message, instance: { id: tenant.instance.id } })
    expect(campaign).toMatchObject({ campaign: { id: campaignId, name: 'Spring' }, instance: { id: tenant.instance.id } })
  })

  it('replays them after a cursor without a gap, and by type', async () => {
    const whole = await subscribe({ after: start, types: live })
    await until(() => told(whole).length === 9)
    const all = told(whole).map(({ cursor }) => cursor)
    const rest = await subscribe({ after: all[3], types: live })
    await until(() => told(rest).length === 5)
    expect(told(rest).map(({ cursor }) => cursor)).toEqual(all.slice(4))
    const { body } = await tenant.api.graphql(
      'query ($types: [EventType!]) { events(first: 20, types: $types) { nodes { cursor contact { id } } } }',
      { types: live },
    )
    expect(body.data.events.nodes.map(({ cursor }: { cursor: string }) => cursor)).toEqual(all)
  })
})

it('the plain stream and the list of events tell them only if they are asked for', async () => {
  const asked = await plain(`?after=${start}&types=contact.changed,message.read`)
  await until(() => asked.events.length === 4)
  const names = asked.events.map(({ event }) => event)
  expect(names.filter((name) => name === 'contact.changed')).toHaveLength(3)
  const unasked = await plain(`?after=${start}`)
  await until(() => unasked.events.some(({ event }) => event === 'message.read'))
  expect(unasked.events.map(({ event }) => event)).toEqual(['message.sent', 'message.delivered', 'message.read'])
  const { body } = await tenant.api.graphql('{ events(first: 20) { nodes { type } } }')
  expect(body.data.events.nodes.map(({ type }: { type: string }) => type)).toEqual([
    'message_sent',
    'message_delivered',
    'message_read',
  ])
})

it('webhooks do not offer them', async () => {
  for (const type of live) {
    const hook = { url: 'https://example.com/hook', events: ['message.sent', type.replace('_', '.')] }
    const { status, body } = await tenant.api.post('webhooks', hook)
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(body.error.message).toMatch(/^events\.1: /)
    const create = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    const graph = await tenant.api.graphql(create, { input: { ...hook, events: [type] } })
    expect(graph.body.errors[0]).toMatchObject({
      message: expect.stringMatching(/events\.0: /),
      extensions: { code: 'VALIDATION_ERROR' },
    })
  }
})

it('many contacts that change at once are one event without a contact', async () => {
  const { api } = tenant
  const ids: string[] = []
  for (const n of [1, 2, 3]) ids.push((await api.post('contacts', { name: `C${n}`, phone: `+39333999000${n}` })).body.data.id)
  const { body } = await api.graphql('{ events(last: 1, types: [contact_changed]) { pageInfo { endCursor } } }')
  const reader = await subscribe({ after: body.data.events.pageInfo.endCursor, types: ['contact_changed'] })
  await api.graphql('mutation ($ids: [ID!]!) { bulkDeleteContacts(contactIds: $ids) { deleted } }', { ids })
  const deleted = await until(() => told(reader).find(({ payload }) => payload.change === 'deleted'))
  expect(deleted).toMatchObject({ payload: { contactId: null }, contact: null })
})

it('contacts that join or leave a group change, and those that were in it already do not', async () => {
  const { api } = tenant
  const contactOf = async (n: number) => (await api.post('contacts', { name: `M${n}`, phone: `+39333888000${n}` })).body.data.id
  const [one, two] = [await contactOf(1), await contactOf(2)]
  const made = await api.graphql('mutation { createContactGroup(input: { name: "Members" }) { id } }')
  const groupId = made.body.data.createContactGroup.id
  const change = async (field: 'addGroupMembers' | 'removeGroupMembers', ids: string[]) => {
    const { body } = await api.graphql(
      `mutation ($groupId: ID!, $ids: [ID!]!) { ${field}(groupId: $groupId, contactIds: $ids) { __typename } }`,
      { groupId, ids },
    )
    expect(body.errors).toBeUndefined()
  }
  await change('addGroupMembers', [one])
  await change('addGroupMembers', [one])
  await change('addGroupMembers', [one, two])
  await change('removeGroupMembers', [two])
  await change('removeGroupMembers', [two])
  await api.graphql('mutation ($groupId: ID!) { deleteContactGroup(id: $groupId) { deleted } }', { groupId })
  await api.put(`contacts/${two}`, { name: 'The end' })
  const reader = await subscribe({ after: start, types: ['contact_changed'] })
  const changes = () => told(reader).map(({ payload }) => [payload.contactId, payload.change])
  const since = () => changes().slice(changes().findLastIndex(([, change]) => change === 'created') + 1)
  await until(() => changes().some(([id]) => id === two) && since().length === 5)
  expect(since()).toEqual([one, null, two, null, two].map((id) => [id, 'updated']))
})
