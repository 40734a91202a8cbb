// Proves that every example in the public document and in GraphiQL succeeds when it is sent with the demo account.
import { beforeAll, describe, expect, it } from 'vitest'
import { demoIds } from '../../src/demo/demo.ts'
import { graphiqlTabs } from '../../src/pages/graphiql-tabs.ts'
import { openSse } from '../events/sse.ts'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { upload } from '../media/rig.ts'
import { type Call, callsOf } from './calls.ts'

/** Operations that answer no JSON or that never succeed. */
const apart = [
  'publishStatus',
  'streamEvents',
  'uploadMedia',
  'downloadMedia',
  'importContacts',
  'importSuppressions',
  'exportContacts',
  'exportMessages',
]

const calls = callsOf('public').filter(({ operation }) => !apart.includes(operation.operationId))

let gateway: { url: string }
let apiKey: string
let demo: Api

beforeAll(async () => {
  // No message is sent and no webhook delivered: the examples contain addresses of other people.
  const env = { DEMO: '1', ROLES: 'http', RATE_LIMIT_PER_SECOND: '100000' }
  const running = await openGateway({ databaseUrl: await cloneDatabase(), env })
  gateway = running
  apiKey = running.logs.join('\n').match(/svc_live_[0-9a-f]{64}/)?.[0] as string
  demo = api(gateway, apiKey)
})

const ahead = new Date(Date.now() + 3_600_000).toISOString()
const text = { instanceId: demoIds.instanceId, to: '+4915112345678', type: 'text', text: 'Hello' }

async function idOf(path: string, body: unknown): Promise<string> {
  const { data } = (await demo.post(path, body)).body
  return data.id ?? data.jobId
}

const newMessage = () => idOf('messages/schedule', { ...text, scheduledAt: ahead })
const newReceived = () => idOf(`instances/${demoIds.instanceId}/sandbox/inbound`, { from: text.to, text: 'Hi' })
const newWebhook = () => idOf('webhooks', { url: 'https://example.com/', events: ['message.sent'] })
const newJob = () => idOf('contacts/bulk-delete', { contactIds: Array.from({ length: 100 }, () => crypto.randomUUID()) })
async function newCampaign(): Promise<string> {
  const { to, ...message } = text
  return await idOf('campaigns', { ...message, name: 'News', recipients: [{ to }], scheduledAt: ahead })
}

/** The path with its parameters; resources that the demo account lacks are created for the call. */
async function place({ path, operation }: Call): Promise<string> {
  const values: Record<string, string> = {}
  for (const { name, in: where, example } of operation.parameters ?? []) if (where === 'path' && example) values[name] = example
  if (path.startsWith('/messages/{id}')) values.id = path.endsWith('/read') ? await newReceived() : await newMessage()
  if (path.startsWith('/campaigns/{id}')) values.id = await newCampaign()
  if (path.startsWith('/webhooks/{id}')) values.id = await newWebhook()
  if (path.startsWith('/media/{id}')) values.id = (await upload(gateway, apiKey, 'Hello')).body.data.id
  if (path.includes('{phone}')) {
    values.phone = '+4915112340023'
    await demo.post('suppressions', { phone: values.phone })
  }
  if (path.includes('{jobId}')) values.jobId = await newJob()
  if (path.includes('{deliveryId}')) values.deliveryId = await idOf(`webhooks/${values.id}/test`, undefined)
  if (operation.operationId === 'resumeCampaign') await demo.post(`campaigns/${values.id}/pause`)
  const query = operation.operationId === 'history' ? '?phone=%2B4915112345678' : ''
  return path.slice(1).replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] as string) + query
}

describe("GraphiQL's example", () => {
  const tabs = graphiqlTabs(demoIds).map(({ query, variables = '{}' }) => ({ query, variables: JSON.parse(variables) }))
  const nameOf = (query: string) => query.match(/^(?:query|mutation|subscription) (\w+)/m)?.[1] as string

  it('exists for each family of operations', () => {
    expect(tabs.map(({ query }) => nameOf(query))).toEqual([
      'Send',
      'Follow',
      'Schedule',
      'Contacts',
      'Preview',
      'Campaign',
      'Webhook',
    ])
  })

  it.each(tabs.map((tab): [string, (typeof tabs)[number]] => [nameOf(tab.query), tab]))('%s', async (_, { query, variables }) => {
    if (query.includes('subscription ')) {
      const stream = await openSse(`${gateway.url}/graphql`, { headers: { 'x-api-key': apiKey }, body: { query, variables } })
      expect(stream.status).toBe(200)
      expect(stream.headers['content-type']).toMatch(/^text\/event-stream/)
      return
    }
    const { body } = await demo.graphql(query, variables)
    expect(body.errors).toBeUndefined()
    expect(Object.keys(body.data)).toHaveLength(1)
  })
})

describe('the example', () => {
  it.each(calls.map((call): [string, string, Call] => [call.operation.operationId, call.example?.summary ?? 'as it is', call]))(
    'of %s succeeds: %s',
    async (_, __, call) => {
      const { method, operation, example } = call
      const at = await place(call)
      const body = example?.value
      const { status, body: answer } =
        method === 'get' ? await demo.get(at) : await demo[method as 'post' | 'put' | 'delete'](at, body)
      const success = Object.keys(operation.responses).filter((one) => one.startsWith('2'))
      expect(success, JSON.stringify(answer)).toContain(String(status))
    },
  )

  it('exists for every body', () => {
    const bodies = calls.filter(({ operation }) => operation.requestBody)
    expect(bodies.filter(({ example }) => !example).map(({ operation }) => operation.operationId)).toEqual([])
    expect(bodies.length).toBeGreaterThan(15)
  })
})
