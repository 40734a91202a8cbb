// The sandbox never passes for the real thing: production has no default network, and callers can play the other party on the sandbox only.
import { describe, expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { type Answer, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, newNumber, newTenant, openRig } from '../rest-compat/rig.ts'

const create = 'mutation ($input: CreateInstanceInput!) { createInstance(input: $input) { provider } }'

async function inProduction(env: Record<string, string>, input: object): Promise<{ rest: Answer; graph: Answer }> {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { NODE_ENV: 'production', ...env } })
  const client = api(gateway, (await createAccount(databaseUrl)).apiKey)
  return { rest: await client.post('instances', input), graph: await client.graphql(create, { input }) }
}

describe('with NODE_ENV=production', () => {
  it.each<[env: Record<string, string>, input: object, message: string]>([
    [{}, { name: 'x' }, 'provider: is required on this server'],
    [{ SANDBOX: '1' }, { name: 'x', provider: null }, 'provider: is required on this server'],
    [{}, { name: 'x', provider: 'sandbox' }, 'provider: sandbox needs SANDBOX=1 on a server in production'],
  ])('and %j, %j is refused', async (env, input, message) => {
    const { rest, graph } = await inProduction(env, input)
    expectRefusal(rest, 400, 'VALIDATION_ERROR', message)
    expect(graph.body.errors[0]).toMatchObject({ message, extensions: { code: 'VALIDATION_ERROR' } })
  })

  it('and SANDBOX=1, a sandbox is created that says so in the graph', async () => {
    const { rest, graph } = await inProduction({ SANDBOX: '1' }, { name: 'x', provider: 'sandbox' })
    expect([rest.status, graph.body.data.createInstance]).toEqual([201, { provider: 'sandbox' }])
  })
})

it('elsewhere the sandbox is the default', async () => {
  const { tenant } = await openRig()
  expect((await tenant.api.graphql(create, { input: { name: 'x' } })).body.data.createInstance).toEqual({ provider: 'sandbox' })
})

describe('an inbound message on the sandbox', () => {
  const receive =
    'mutation ($id: ID!, $input: SandboxInboundInput!) { receiveInSandbox(id: $id, input: $input) { type body from } }'

  it.each<[input: Record<string, unknown>, record: Record<string, unknown>]>([
    [
      { type: 'text', text: 'Hello' },
      { type: 'text', body: 'Hello', mediaUrl: null },
    ],
    [
      { buttonId: 'yes', text: 'Yes' },
      { type: 'text', body: 'Yes' },
    ],
    [
      { type: 'image', mediaUrl: 'https://e.example/a.png', text: 'Look' },
      { type: 'image', body: 'Look', mediaUrl: 'https://e.example/a.png' },
    ],
    [
      { type: 'location', latitude: 1, longitude: 2 },
      { type: 'location', body: '' },
    ],
    [
      { type: 'contact', text: 'Ada', phone: '+4915112345678' },
      { type: 'contact', body: 'Ada' },
    ],
    [{ type: 'unknown' }, { type: 'unknown', body: '' }],
  ])('%j is stored as received, over REST and in the graph', async (input, record) => {
    const { databaseUrl, tenant } = await openRig()
    const { api: client, instance } = tenant
    const from = newNumber()
    const contact = (await client.post('contacts', { name: 'Ada', phone: from })).body.data
    const { status, body } = await client.post(`instances/${instance.id}/sandbox/inbound`, { ...input, from })
    const received = { from, to: instance.waNumber, direction: 'inbound', status: 'received', contactId: contact.id, ...record }
    expect([status, body.data]).toMatchObject([201, received])
    const graph = await client.graphql(receive, { id: instance.id, input: { ...input, from } })
    expect(graph.body.data.receiveInSandbox).toMatchObject({ from, type: record.type, body: record.body })
    const count = `select count(*)::int as n from events where "workspaceId" = $1 and type = 'message.received'`
    await until(async () => (await sql(databaseUrl).query<{ n: number }>(count, [tenant.account.workspaceId])).rows[0]?.n === 2)
  })

  it('is refused with a fault, for another workspace, and on another network', async () => {
    const { databaseUrl, tenant, stranger, gateway } = await openRig()
    const path = `instances/${tenant.instance.id}/sandbox/inbound`
    const from = newNumber()
    expectRefusal(
      await tenant.api.post(path, { from: '5', type: 'image' }),
      400,
      'VALIDATION_ERROR',
      /^from: .*mediaUrl: is required/,
    )
    expectRefusal(await tenant.api.post(path, { from }), 400, 'VALIDATION_ERROR', 'text: is required')
    expectRefusal(await stranger.api.post(path, { from, text: 'x' }), 404, 'NOT_FOUND', 'Instance not found')
    const other = await newTenant(gateway, databaseUrl)
    await sql(databaseUrl).query(`update instances set provider = 'cloud' where id = $1`, [other.instance.id])
    const refused = await other.api.post(`instances/${other.instance.id}/sandbox/inbound`, { from, text: 'x' })
    expectRefusal(refused, 409, 'INVALID_STATE', /not on the sandbox/)
  })

  it.each(['nonsense', 'constructor', '__proto__', { toString: 1 }])(
    'of the unknown type %j is refused by name',
    async (type) => {
      const { tenant } = await openRig()
      const { api: client, instance } = tenant
      const input = { type, from: newNumber() }
      const message = /^type: must be one of text, image/
      expectRefusal(await client.post(`instances/${instance.id}/sandbox/inbound`, input), 400, 'VALIDATION_ERROR', message)
      const [error] = (await client.graphql(receive, { id: instance.id, input })).body.errors
      expect([error.extensions.code, error.message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(/type: must be one of/)])
    },
  )
})
