// A client changes and deletes the webhook endpoints of its own workspace, and finds none of another workspace.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer, Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import type { Scene } from '../kit/scene.ts'
import { type Endpoints, hook, openEndpoints } from './endpoint-rig.ts'

const missing = '0199aaaa-0000-7000-8000-000000000000'

let scene: Scene
let client: Api
let create: Endpoints['create']
let stranger: Endpoints['stranger']

beforeAll(async () => {
  ;({ scene, client, create, stranger } = await openEndpoints())
})

describe('changing a webhook endpoint', () => {
  it('changes the given fields and keeps the rest', async () => {
    const { id } = await create()
    const answer = await client.put(`webhooks/${id}`, { events: ['message.failed', 'message.read'] })
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ id, url: hook, events: ['message.failed', 'message.read'] })
    const moved = await client.put(`webhooks/${id}`, { url: `${hook}/new` })
    expect(moved.body.data).toMatchObject({ url: `${hook}/new`, events: ['message.failed', 'message.read'] })
    expect((await client.get(`webhooks/${id}`)).body.data).toEqual({ ...moved.body.data, disabledAt: null })
  })

  it.each([
    [{}, /must change url, events or enabled/],
    [{ other: 1 }, /must change url, events or enabled/],
    [{ url: null }, /^url: must not be null$/],
    [{ events: null }, /^events: must not be null$/],
    [{ events: ['nope'] }, /^events\.0: must be one of /],
    [
      { url: 'https://10.0.0.1' },
      /^url: must not lead to a private network, unless the operator allows it by ALLOWED_PRIVATE_TARGETS$/,
    ],
  ])('refuses %j', async (body, message) => {
    const { id } = await create()
    const answer = await client.put(`webhooks/${id}`, body)
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
    expect(answer.body.error.message).toMatch(message)
    expect((await client.get(`webhooks/${id}`)).body.data).toMatchObject({ url: hook, events: ['message.sent'] })
  })

  it('enables a disabled endpoint again, but not by a change of its URL', async () => {
    const { id } = await create()
    const state = async () =>
      (await client.graphql(`{ webhook(id: "${id}") { disabledReason disabledAt failingSince } }`)).body.data.webhook
    await sql(scene.databaseUrl).query(
      `update webhook_endpoints set "disabledAt" = now(), "disabledReason" = 'failing', "failingSince" = now() - interval '6 days', "failedEvents" = 99
       where id = $1`,
      [id],
    )
    expect((await state()).disabledReason).toBe('failing')
    expect((await client.put(`webhooks/${id}`, { enabled: true })).status).toBe(200)
    expect(await state()).toEqual({ disabledReason: null, disabledAt: null, failingSince: null })
    await client.put(`webhooks/${id}`, { enabled: false })
    await client.put(`webhooks/${id}`, { url: `${hook}/elsewhere` })
    expect((await state()).disabledReason).toBe('by_hand')
  })
})

it('deletes an endpoint once, and its secret with it', async () => {
  const { id } = await create()
  expect((await client.delete(`webhooks/${id}`)).body).toEqual({ data: { id, deleted: true } })
  expect((await client.delete(`webhooks/${id}`)).status).toBe(404)
  const { rows } = await sql(scene.databaseUrl).query('select secret from webhook_endpoints where id = $1', [id])
  expect(rows[0].secret).toHaveLength(0)
})

describe("another workspace's endpoint", () => {
  const routes: [string, string, unknown?][] = [
    ['get', ''],
    ['put', '', { events: ['message.sent'] }],
    ['delete', ''],
    ['post', '/test', {}],
    ['post', '/rotate-secret', {}],
    ['get', '/deliveries'],
    ['post', `/deliveries/${missing}/redeliver`, {}],
  ]

  it.each(routes)('is not found by %s webhooks/{id}%s, exactly like one that does not exist', async (method, path, body) => {
    const { id } = await create()
    const other = await stranger()
    const ask = (webhookId: string): Promise<Answer> => other[method as 'post'](`webhooks/${webhookId}${path}`, body)
    const [theirs, none] = [await ask(id as string), await ask(missing)]
    expect([theirs.status, theirs.body.error.code]).toEqual([404, 'NOT_FOUND'])
    expect(theirs.body).toEqual(none.body)
    expect((await ask('not-a-uuid')).status).toBe(400)
  })
})
