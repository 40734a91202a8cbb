// Proves the connections of the GraphQL schema, forward and backward, and the objects behind the ids.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { moment, newTenant, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
let asleep: Tenant
/** Newest first, in the order of the list. */
let sent: string[]

beforeAll(async () => {
  rig = await openRig()
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  asleep = { ...tenant, instance: await connectedInstance(rig.databaseUrl, tenant.account, { status: 'disconnected' }) }
  const messages = Array.from({ length: 23 }, () => text(asleep))
  await asleep.api.post('messages/bulk', { messages })
  const { body } = await asleep.api.get('messages?limit=100')
  sent = body.data.messages.map((message: { id: string }) => message.id)
})

interface Page {
  edges: { cursor: string; node: { id: string } }[]
  nodes: { id: string }[]
  totalCount: number
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

const fields =
  'edges { cursor node { id } } nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'

async function messages(variables: Record<string, unknown>, name = 'messages', args = ''): Promise<Page> {
  const document = `query ($first: Int, $after: String, $last: Int, $before: String) {
    page: ${name}(first: $first, after: $after, last: $last, before: $before ${args}) { ${fields} } }`
  const { body } = await asleep.api.graphql(document, variables)
  expect(body.errors).toBeUndefined()
  return body.data.page
}

const ids = (page: Page) => page.nodes.map((node) => node.id)

describe('messages', () => {
  it('are paged forward', async () => {
    const seen: string[] = []
    let after: string | null = null
    do {
      const page: Page = await messages({ first: 5, after })
      expect(page.edges.map((edge) => edge.node.id)).toEqual(ids(page))
      expect(page.pageInfo).toEqual({
        hasNextPage: seen.length + 5 < 23,
        hasPreviousPage: after !== null,
        startCursor: page.edges[0]?.cursor,
        endCursor: page.edges.at(-1)?.cursor,
      })
      expect(page.totalCount).toBe(23)
      seen.push(...ids(page))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
    } while (after)
    expect(seen).toEqual(sent)
  })

  it('are paged backward, each page in the order of the list', async () => {
    let seen: string[] = []
    let before: string | null = null
    do {
      const page: Page = await messages({ last: 5, before })
      expect(page.pageInfo).toMatchObject({ hasPreviousPage: seen.length + 5 < 23, hasNextPage: before !== null })
      seen = [...ids(page), ...seen]
      before = page.pageInfo.hasPreviousPage ? page.pageInfo.startCursor : null
    } while (before)
    expect(seen).toEqual(sent)
  })

  it('are paged between two cursors', async () => {
    const { edges } = await messages({ first: 10 })
    const page = await messages({ first: 100, after: edges[2]?.cursor, before: edges[7]?.cursor })
    expect(ids(page)).toEqual(sent.slice(3, 7))
    const tail = await messages({ last: 2, after: edges[2]?.cursor, before: edges[7]?.cursor })
    expect(ids(tail)).toEqual(sent.slice(5, 7))
  })

  it('have 20 items in a page by default', async () => {
    expect(ids(await messages({}))).toEqual(sent.slice(0, 20))
  })

  it('of an empty workspace are an empty page', async () => {
    const { body } = await rig.stranger.api.graphql(`{ page: messages { ${fields} } }`)
    expect(body.data.page).toEqual({
      edges: [],
      nodes: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    })
  })

  it('restrict a cursor to one sort and one filter', async () => {
    const { pageInfo } = await messages({ first: 2 })
    for (const args of ['sort: createdAt_asc', 'filter: { status: queued }']) {
      const document = `{ messages(after: "${pageInfo.endCursor}", ${args}) { nodes { id } } }`
      const { body } = await asleep.api.graphql(document)
      expect(body.errors[0]).toMatchObject({
        message: expect.stringMatching(/^after: /),
        extensions: { code: 'VALIDATION_ERROR' },
      })
    }
    const asDefault = `{ messages(after: "${pageInfo.endCursor}", sort: createdAt_desc, filter: {}) { nodes { id } } }`
    expect((await asleep.api.graphql(asDefault)).body.data.messages.nodes).toHaveLength(20)
  })
})

describe('a message', () => {
  it('includes its instance, contact, times and timeline', async () => {
    const { api, instance } = rig.tenant
    const { id, scheduledAt } = await until(async () => {
      const scheduledAt = new Date(Date.now() + 1_000).toISOString()
      // A request that arrives after scheduledAt is refused, so it is repeated.
      const { status, body } = await api.post('messages/schedule', text(rig.tenant, { scheduledAt }))
      return status === 201 && { id: body.data.id, scheduledAt }
    })
    const document = `query ($id: ID!) { message(id: $id) { status scheduledAt sentAt deliveredAt readAt timeline { status at } contact { name } instance { id waNumber provider } } }`
    const message = await until(async () => {
      const { body } = await api.graphql(document, { id })
      return body.data.message.status === 'read' && body.data.message
    })
    expect(message).toEqual({
      status: 'read',
      scheduledAt,
      sentAt: moment,
      deliveredAt: moment,
      readAt: moment,
      timeline: ['queued', 'sending', 'sent', 'delivered', 'read'].map((status) => ({ status, at: moment })),
      contact: null,
      instance: { id: instance.id, waNumber: instance.waNumber, provider: 'sandbox' },
    })
    const times = message.timeline.map((entry: { at: string }) => Date.parse(entry.at))
    expect(times).toEqual([...times].sort((a, b) => a - b))
  })
})

describe('events', () => {
  const page = `query ($first: Int, $after: String, $last: Int, $before: String, $types: [EventType!]) {
    events(first: $first, after: $after, last: $last, before: $before, types: $types) {
      edges { cursor node { id type cursor createdAt payload message { id status } instance { id name } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`

  it('include their message and instance, and are paged forward and backward', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const { id } = (await tenant.api.post('messages/send', text(tenant))).body.data
    const read = async (variables = {}) => (await tenant.api.graphql(page, variables)).body.data.events
    const { edges } = await until(async () => {
      const events = await read()
      return events.edges.length === 3 && events
    })
    const types = ['message_sent', 'message_delivered', 'message_read']
    expect(edges.map((edge: { node: { type: string } }) => edge.node.type)).toEqual(types)
    for (const { cursor, node } of edges) {
      expect(node).toEqual({
        id: node.payload.id,
        type: node.type,
        cursor,
        createdAt: moment,
        payload: expect.objectContaining({ event: node.type.replace('_', '.'), messageId: id, instanceId: tenant.instance.id }),
        message: { id, status: 'read' },
        instance: { id: tenant.instance.id, name: 'Phone' },
      })
    }
    const [first, second, third] = edges
    expect((await read({ first: 1, after: first.cursor })).edges).toEqual([second])
    expect((await read({ last: 1, before: third.cursor })).edges).toEqual([second])
    expect((await read({ last: 1 })).edges).toEqual([third])
    expect((await read({ types: ['message_read'] })).edges).toEqual([third])
    expect((await read({ first: 2 })).pageInfo).toMatchObject({
      hasNextPage: true,
      hasPreviousPage: false,
      endCursor: second.cursor,
    })
    const { body } = await rig.stranger.api.graphql(page, { after: first.cursor })
    expect(body.errors[0]).toMatchObject({ message: expect.stringMatching(/^after: /), extensions: { code: 'VALIDATION_ERROR' } })
  })

  it('of an instance have no message', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    await tenant.api.post(`instances/${tenant.instance.id}/logout`)
    const event = await until(async () => (await tenant.api.graphql(page)).body.data.events.edges[0]?.node)
    expect(event).toMatchObject({ type: 'instance_disconnected', message: null, instance: { id: tenant.instance.id } })
    expect(event.payload).toEqual({
      id: event.id,
      event: 'instance.disconnected',
      instanceId: tenant.instance.id,
      status: 'logged_out',
      timestamp: moment,
    })
  })
})

it('pages the deliveries of an endpoint', async () => {
  const hook = (await rig.tenant.api.post('webhooks', { url: 'http://127.0.0.1:9/', events: ['message.sent'] })).body.data.id
  for (let i = 0; i < 5; i++) await rig.tenant.api.post(`webhooks/${hook}/test`)
  const document =
    'query ($id: ID!, $first: Int, $after: String) { webhook(id: $id) { deliveries(first: $first, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } } }'
  const seen: string[] = []
  let after: string | null = null
  do {
    const { body } = await rig.tenant.api.graphql(document, { id: hook, first: 2, after })
    const { nodes, pageInfo } = body.data.webhook.deliveries
    seen.push(...nodes.map((node: { id: string }) => node.id))
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after)
  const { rows } = await sql(rig.databaseUrl).query(
    'select id from webhook_deliveries where "endpointId" = $1 order by "createdAt" desc, id desc',
    [hook],
  )
  expect(seen).toEqual(rows.map((row) => row.id))
})
