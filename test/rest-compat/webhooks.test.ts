// REST routes of webhook endpoints: their records and refusals. Delivery of events is tested in test/webhooks.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { expectRefusal, moment, newTenant, nobody, openRig, type Rig, type Tenant, uuid } from './rig.ts'

let rig: Rig
const url = 'http://127.0.0.1:9/hook'
const secret = expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)

beforeAll(async () => {
  rig = await openRig()
})

function endpointRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { id: uuid, url, events: ['message.sent', 'instance.connected'], createdAt: moment, ...fields }
}

async function create(tenant: Tenant): Promise<string> {
  const answer = await tenant.api.post('webhooks', { url, events: ['message.sent', 'instance.connected'] })
  expect(answer.status).toBe(201)
  return answer.body.data.id
}

describe('a webhook endpoint', () => {
  it('is created, read, changed, listed and deleted; its secret is shown only on creation and rotation', async () => {
    const { api } = rig.tenant
    const created = await api.post('webhooks', {
      url,
      events: ['message.sent', 'instance.connected'],
      secret: 'mine',
      nonsense: 1,
    })
    expect({ status: created.status, body: created.body }).toStrictEqual({
      status: 201,
      body: { data: endpointRecord({ secret }) },
    })
    const { id } = created.body.data
    expect((await api.get(`webhooks/${id}`)).body).toStrictEqual({ data: endpointRecord({ id, disabledAt: null }) })
    const changed = await api.put(`webhooks/${id}`, { events: ['message.failed'] })
    const record = endpointRecord({ id, events: ['message.failed'] })
    expect({ status: changed.status, body: changed.body }).toStrictEqual({ status: 200, body: { data: record } })
    expect((await api.get('webhooks')).body).toStrictEqual({ data: [record] })
    const rotated = await api.post(`webhooks/${id}/rotate-secret`)
    expect({ status: rotated.status, body: rotated.body }).toStrictEqual({ status: 200, body: { data: { ...record, secret } } })
    expect(rotated.body.data.secret).not.toBe(created.body.data.secret)
    const gone = await api.delete(`webhooks/${id}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { id, deleted: true } } })
    expect((await api.get('webhooks')).body).toStrictEqual({ data: [] })
    expectRefusal(await api.delete(`webhooks/${id}`), 404, 'NOT_FOUND', 'Webhook endpoint not found')
  })

  it('can be tested, and lists the delivery', async () => {
    const id = await create(rig.tenant)
    const tested = await rig.tenant.api.post(`webhooks/${id}/test`)
    const delivery = {
      id: uuid,
      eventId: uuid,
      event: 'message.sent',
      test: true,
      status: expect.any(String),
      attempts: expect.any(Number),
      responseCode: null,
      error: tested.body.data.error,
      nextAttemptAt: expect.anything(),
      lastAttemptAt: null,
      deliveredAt: null,
      createdAt: moment,
    }
    expect({ status: tested.status, body: tested.body }).toStrictEqual({ status: 200, body: { data: delivery } })
    const { data } = (await rig.tenant.api.get(`webhooks/${id}/deliveries?limit=1`)).body
    expect(data).toMatchObject({ deliveries: [{ id: tested.body.data.id }], nextCursor: null, hasMore: false })
    expect(Object.keys(data.deliveries[0]).sort()).toEqual(Object.keys(delivery).sort())
    expectRefusal(await rig.tenant.api.get(`webhooks/${id}/deliveries?limit=0`), 400, 'VALIDATION_ERROR', /^limit: /)
    expectRefusal(
      await rig.tenant.api.get(`webhooks/${id}/deliveries?cursor=x`),
      400,
      'VALIDATION_ERROR',
      'cursor: is not a cursor',
    )
    expectRefusal(
      await rig.tenant.api.get(`webhooks/${id}/deliveries?status=lost`),
      400,
      'VALIDATION_ERROR',
      /^status: must be one of/,
    )
    const redeliver = (delivery: string) => rig.tenant.api.post(`webhooks/${id}/deliveries/${delivery}/redeliver`)
    expectRefusal(await redeliver(nobody), 404, 'NOT_FOUND', 'Webhook delivery not found')
    expectRefusal(await redeliver('5'), 400, 'VALIDATION_ERROR', 'deliveryId: must be a UUID')
  })

  const events = ['message.sent']
  it.each<[string, unknown, string | RegExp]>([
    ['nothing', {}, 'url: is required; events: is required'],
    ['a list in place of the body', [], 'body: must be a JSON object'],
    ['no events', { url, events: [] }, 'events: must have at least 1 item'],
    ['51 events', { url, events: Array(51).fill('message.sent') }, /events: must have at most 50 items/],
    ['an event twice', { url, events: ['message.sent', 'message.sent'] }, 'events: must be distinct'],
    ['an unknown event', { url, events: ['message.lost'] }, /^events\.0: must be one of /],
    ['one event in place of a list', { url, events: 'message.sent' }, 'events: must be an array'],
    ['a relative url', { url: '/hook', events }, 'url: must be an absolute https URL'],
    [
      'a private url',
      { url: 'https://10.0.0.1/', events },
      'url: must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS',
    ],
    ['a user in the url', { url: 'https://a:b@example.com/', events }, 'url: must not contain a user name or password'],
    ['a url of 2049', { url: `https://example.com/${'x'.repeat(2029)}`, events }, 'url: must have at most 2048 characters'],
    ['a number as url', { url: 5, events }, 'url: must be a string'],
  ])('is refused with %s', async (_, body, message) => {
    expectRefusal(await rig.tenant.api.post('webhooks', body), 400, 'VALIDATION_ERROR', message)
  })

  it('is not changed by an empty or invalid body', async () => {
    const id = await create(rig.tenant)
    expectRefusal(
      await rig.tenant.api.put(`webhooks/${id}`, {}),
      400,
      'VALIDATION_ERROR',
      'body: must change url, events or enabled',
    )
    expectRefusal(await rig.tenant.api.put(`webhooks/${id}`, { events: [] }), 400, 'VALIDATION_ERROR', /^events: /)
    expectRefusal(await rig.tenant.api.put(`webhooks/${nobody}`, { events }), 404, 'NOT_FOUND', 'Webhook endpoint not found')
    expect((await rig.tenant.api.get(`webhooks/${id}`)).body).toStrictEqual({ data: endpointRecord({ id, disabledAt: null }) })
  })

  it('is refused beyond the limit of the plan, also under concurrent creation', async () => {
    const free = await newTenant(rig.gateway, rig.databaseUrl, 'free')
    const race = await Promise.all(Array.from({ length: 10 }, () => free.api.post('webhooks', { url, events })))
    expect(race.map((answer) => answer.status).sort()).toEqual([201, 201, 201, ...Array(7).fill(403)])
    const refused = race.find((answer) => answer.status === 403)
    if (refused) expectRefusal(refused, 403, 'MAX_WEBHOOK_ENDPOINTS_REACHED', 'The plan allows no more webhook endpoints')
  })

  it.each([
    'get /',
    'put /',
    'delete /',
    'get /deliveries',
    'post /test',
    'post /rotate-secret',
    `post /deliveries/${nobody}/redeliver`,
  ])('of another account is not found by %s', async (call) => {
    const id = await create(rig.tenant)
    const [method, path] = call.split(' ') as ['get' | 'put' | 'post' | 'delete', string]
    const ask = (of: string) => {
      const address = `webhooks/${of}${path === '/' ? '' : path}`
      return method === 'get' ? rig.stranger.api.get(address) : rig.stranger.api[method](address, { events })
    }
    const foreign = await ask(id)
    expectRefusal(foreign, 404, 'NOT_FOUND')
    expect((await ask(nobody)).body).toEqual(foreign.body)
    expectRefusal(await ask('5'), 400, 'VALIDATION_ERROR', /id: must be a UUID/)
    expect((await rig.tenant.api.get(`webhooks/${id}`)).body).toStrictEqual({ data: endpointRecord({ id, disabledAt: null }) })
  })
})

it('stores no webhook secret in plain text', async () => {
  const created = await rig.tenant.api.post('webhooks', { url, events: ['message.sent'] })
  const { rows } = await sql(rig.databaseUrl).query('select secret from webhook_endpoints where id = $1', [created.body.data.id])
  const kept = rows[0]?.secret as Buffer
  expect(kept.includes(created.body.data.secret)).toBe(false)
  expect(kept.includes(Buffer.from(created.body.data.secret.slice(6), 'base64'))).toBe(false)
})
