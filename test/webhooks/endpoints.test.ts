// A client creates webhook endpoints up to the limit of its plan, lists them, and sees each secret only when it is made.
import { beforeAll, describe, expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import type { Scene } from '../kit/scene.ts'
import { type Endpoints, hook, openEndpoints } from './endpoint-rig.ts'

let scene: Scene
let client: Api
let create: Endpoints['create']
let stranger: Endpoints['stranger']

beforeAll(async () => {
  ;({ scene, client, create, stranger } = await openEndpoints())
})

async function stored(): Promise<number> {
  const { rows } = await sql(scene.databaseUrl).query(
    'select count(*)::int as n from webhook_endpoints where "workspaceId" = $1',
    [scene.account.workspaceId],
  )
  return rows[0].n
}

describe('creating a webhook endpoint', () => {
  it('answers 201 with the record and its secret', async () => {
    const data = await create(['message.sent', 'instance.connected'])
    expect(Object.keys(data).sort()).toEqual(['createdAt', 'events', 'id', 'secret', 'url'])
    expect(data).toMatchObject({ url: hook, events: ['message.sent', 'instance.connected'] })
    expect(data.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from((data.secret as string).slice(6), 'base64')).toHaveLength(32)
  })

  it('stores the secret sealed', async () => {
    const { id, secret } = await create()
    const { rows } = await sql(scene.databaseUrl).query('select secret from webhook_endpoints where id = $1', [id])
    expect(rows[0].secret.toString('latin1')).not.toContain((secret as string).slice(6, 20))
  })

  it.each([
    [{ events: ['message.sent'] }, 'url: is required'],
    [{ url: hook }, 'events: is required'],
    [{ url: hook, events: [] }, 'events: must have at least 1 item'],
    [{ url: hook, events: Array.from({ length: 51 }, () => 'message.sent') }, 'events: must have at most 50 items'],
    [{ url: hook, events: ['message.sent', 'message.sent'] }, 'events: must be distinct'],
    [{ url: hook, events: ['message.sent', 'message.lost'] }, /^events\.1: must be one of instance\.connected, /],
    [{ url: hook, events: 'message.sent' }, /^events: /],
    [{ url: 7, events: ['message.sent'] }, 'url: must be a string'],
    [{ url: 'http://hooks.example/', events: ['message.sent'] }, 'url: must be an absolute https URL'],
    [{ url: 'nonsense', events: [] }, 'url: must be an absolute https URL; events: must have at least 1 item'],
  ])('refuses %j', async (body, message) => {
    const before = await stored()
    const answer = await client.post('webhooks', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.code).toBe('VALIDATION_ERROR')
    if (typeof message === 'string') expect(answer.body.error.message.split('; ').sort()).toEqual(message.split('; ').sort())
    else expect(answer.body.error.message).toMatch(message)
    expect(await stored()).toBe(before)
  })

  it.each([
    'https://127.0.0.1/',
    'https://0x7f.1',
    'https://[::ffff:127.0.0.1]',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost',
    'https://metadata.google.internal',
    'https://example.com@169.254.169.254',
    'https://[64:ff9b::a9fe:a9fe]',
  ])('refuses the private or internal target %s', async (url) => {
    const answer = await client.post('webhooks', { url, events: ['message.sent'] })
    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toMatch(/^url: /)
  })

  it('refuses the URL of the gateway itself', async () => {
    const open = await openGateway({
      databaseUrl: scene.databaseUrl,
      env: { ROLES: 'http', PUBLIC_URL: 'https://gateway.example', RATE_LIMIT_PER_SECOND: '100000' },
    })
    for (const url of [`${open.url}/api/v1/webhooks`, 'https://gateway.example/loop']) {
      const answer = await api(open, scene.account.apiKey).post('webhooks', { url, events: ['message.sent'] })
      expect(answer.body.error).toEqual({ code: 'VALIDATION_ERROR', message: 'url: must not be this gateway itself' })
    }
  })

  it('refuses the gateway itself however its host is spelled, by REST and by GraphQL, on creation and on change', async () => {
    const open = await openGateway({
      databaseUrl: scene.databaseUrl,
      env: {
        ROLES: 'http',
        RATE_LIMIT_PER_SECOND: '1000',
        PUBLIC_URL: 'https://bücher.example',
        ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128,::ffff:0:0/96',
      },
    })
    const { port } = new URL(open.url)
    const client = api(open, (await createAccount(scene.databaseUrl)).apiKey)
    const made = await client.post('webhooks', { url: hook, events: ['message.sent'] })
    expect(made.status).toBe(201)
    const hosts = ['bücher.example.', 'BÜCHER.example', 'xn--bcher-kva.example', 'xn--bcher-kva.example.:443', 'bücher。example']
    const urls = [
      ...hosts.map((host) => `https://${host}/loop`),
      ...['127.1', '2130706433', '[::ffff:127.0.0.1]', '127.0.0.1.'].map((host) => `http://${host}:${port}/`),
    ]
    const words = 'url: must not be this gateway itself'
    const change = 'mutation ($id: ID!, $input: UpdateWebhookInput!) { updateWebhook(id: $id, input: $input) { id } }'
    const create = 'mutation ($input: CreateWebhookInput!) { createWebhook(input: $input) { id } }'
    for (const url of urls) {
      const fresh = { url, events: ['message.sent'] }
      const messages = [
        (await client.post('webhooks', fresh)).body.error?.message,
        (await client.put(`webhooks/${made.body.data.id}`, { url })).body.error?.message,
        (await client.graphql(create, { input: { url, events: ['message_sent'] } })).body.errors?.[0].message,
        (await client.graphql(change, { id: made.body.data.id, input: { url } })).body.errors?.[0].message,
      ]
      expect([url, ...messages]).toEqual([url, words, words, words, words])
    }
  })

  it('stops exactly at the limit of the plan, even under concurrent requests', async () => {
    const free = await stranger('free')
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => free.post('webhooks', { url: hook, events: ['message.sent'] })),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3)
    const refused = answers.filter((answer) => answer.status !== 201)
    expect(refused.map((answer) => [answer.status, answer.body.error.code])).toEqual(
      Array.from({ length: 17 }, () => [403, 'MAX_WEBHOOK_ENDPOINTS_REACHED']),
    )
    const [first] = (await free.get('webhooks')).body.data
    expect((await free.delete(`webhooks/${first.id}`)).status).toBe(200)
    expect((await free.post('webhooks', { url: hook, events: ['message.sent'] })).status).toBe(201)
  })

  it('needs an active subscription', async () => {
    const idle = await createAccount(scene.databaseUrl)
    await sql(scene.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [idle.userId])
    const answer = await scene.client(0, idle).post('webhooks', { url: hook, events: ['message.sent'] })
    expect([answer.status, answer.body.error.code]).toEqual([403, 'SUBSCRIPTION_INACTIVE'])
  })

  it('answers a repeated Idempotency-Key with the same secret, and creates one endpoint', async () => {
    const before = await stored()
    const body = { url: hook, events: ['message.sent'] }
    const headers = { 'idempotency-key': 'hook-1' }
    const first = await client.post('webhooks', body, headers)
    const second = await client.post('webhooks', body, headers)
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(await stored()).toBe(before + 1)
    expect((await client.post('webhooks', { ...body, url: `${hook}/2` }, headers)).status).toBe(422)
  })
})

it('lists endpoints without their secrets, oldest first', async () => {
  const lister = await stranger()
  const made: string[] = []
  for (let i = 0; i < 3; i++)
    made.push((await lister.post('webhooks', { url: `${hook}/${i}`, events: ['message.read'] })).body.data.id)
  const { status, body } = await lister.get('webhooks')
  expect(status).toBe(200)
  expect(body.data.map((webhook: { id: string }) => webhook.id)).toEqual(made)
  for (const webhook of body.data) expect(Object.keys(webhook).sort()).toEqual(['createdAt', 'events', 'id', 'url'])
})

it('shows when an endpoint was disabled, where it is read alone', async () => {
  const { id } = await create()
  expect((await client.get(`webhooks/${id}`)).body.data).toMatchObject({ id, disabledAt: null })
  await client.put(`webhooks/${id}`, { enabled: false })
  const { disabledAt } = (await client.get(`webhooks/${id}`)).body.data
  expect(disabledAt).toMatch(/^\d{4}-.*Z$/)
  const graph = await client.graphql(`{ webhook(id: "${id}") { disabledAt } }`)
  expect(graph.body.data.webhook).toEqual({ disabledAt })
})

it('shows a secret when it is created, and in no other response or log', async () => {
  const { id, secret } = await create()
  const rotated = (await client.post(`webhooks/${id}/rotate-secret`, {})).body.data
  expect(rotated.secret).toMatch(/^whsec_/)
  expect(rotated.secret).not.toBe(secret)
  const answers = [
    await client.get('webhooks'),
    await client.get(`webhooks/${id}`),
    await client.put(`webhooks/${id}`, { events: ['message.read'] }),
    await client.post(`webhooks/${id}/test`, {}),
    await client.get(`webhooks/${id}/deliveries`),
    await client.graphql(
      `{ webhooks { id secret } webhook(id: "${id}") { secret deliveries(first: 5) { nodes { id payload } } } }`,
    ),
    await client.graphql(`mutation { updateWebhook(id: "${id}", input: { enabled: true }) { secret } }`),
    await client.delete(`webhooks/${id}`),
  ]
  for (const answer of answers) expect(JSON.stringify(answer.body)).not.toContain('whsec_')
  expect(scene.gateways[0]?.logs.join('\n')).not.toContain('whsec_')
})
