// The mounted REST routes are those of the contract, each with the records that it says and deaf to other people's ids.
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { newId } from '../../src/core/id.ts'
import { type Answer, api } from '../kit/kit.ts'
import { upload } from '../media/rig.ts'
import { campaign, expectRefusal, nobody, openRig, type Rig, text } from '../rest-compat/rig.ts'

/** Public routes, below `/api/v1`. A route is entered here when the contract has it. */
const table = `
GET    billing/payments
GET    billing/plans
GET    billing/subscription
GET    billing/usage
GET    campaigns
POST   campaigns
GET    campaigns/:id
POST   campaigns/:id/cancel
POST   campaigns/:id/pause
POST   campaigns/:id/resume
GET    campaigns/:id/stats
GET    contacts
POST   contacts
GET    contacts/:id
PUT    contacts/:id
DELETE contacts/:id
GET    contacts/:id/groups
GET    contacts/bulk-jobs
GET    contacts/bulk-jobs/:jobId
POST   contacts/bulk-jobs/:jobId/cancel
GET    contacts/bulk-jobs/:jobId/progress
POST   contacts/bulk-delete
GET    contacts/groups
POST   contacts/groups
GET    contacts/groups/:groupId
PUT    contacts/groups/:groupId
DELETE contacts/groups/:groupId
GET    contacts/groups/:groupId/members
POST   contacts/groups/:groupId/members
DELETE contacts/groups/:groupId/members
GET    instances
POST   instances
GET    instances/:id
DELETE instances/:id
GET    instances/:id/state
GET    instances/:id/health
POST   instances/:id/connect
POST   instances/:id/logout
GET    me
POST   media
GET    media/:id
GET    messages
GET    messages/:id
POST   messages/:id/cancel
POST   messages/bulk
GET    messages/history
POST   messages/schedule
POST   messages/send
POST   number-lookups
POST   statuses
GET    templates
POST   templates
GET    templates/:id
PUT    templates/:id
DELETE templates/:id
POST   templates/:id/preview
GET    usage
GET    webhooks
POST   webhooks
GET    webhooks/:id
PUT    webhooks/:id
DELETE webhooks/:id
GET    webhooks/:id/deliveries
POST   webhooks/:id/deliveries/:deliveryId/redeliver
POST   webhooks/:id/rotate-secret
POST   webhooks/:id/test`
  .trim()
  .split('\n')
  .map((line) => line.split(/\s+/) as [method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string])

const idOf = /:(id|groupId|jobId)\b/
const withIds = table.filter(([, path]) => idOf.test(path))

let rig: Rig
/** Ids of the tenant's, by the collection they are in, or by the parameter's own name. */
const own: Record<string, string> = {}

function ownId(path: string): string {
  const name = path.match(idOf)?.[1]
  return own[name && name !== 'id' ? name : (path.split('/')[0] as string)] as string
}

beforeAll(async () => {
  rig = await openRig()
  const { api, instance } = rig.tenant
  own.instances = instance.id
  own.contacts = (await api.post('contacts', { name: 'Ada', phone: '+393331234567' })).body.data.id
  own.messages = (await api.post('messages/send', text(rig.tenant))).body.data.id
  own.campaigns = (await api.post('campaigns', campaign(rig.tenant))).body.data.id
  own.templates = (await api.post('templates', { name: 'Hello', type: 'text', body: 'Hello' })).body.data.id
  own.media = (await upload(rig.gateway, rig.tenant.account.apiKey, 'hello')).body.data.id
  own.webhooks = (await api.post('webhooks', { url: 'http://127.0.0.1:9/', events: ['message.sent'] })).body.data.id
  own.groupId = (await api.post('contacts/groups', { name: 'Friends' })).body.data.id
  await api.post(`contacts/groups/${own.groupId}/members`, { contactIds: [own.contacts] })
  const contactIds = Array.from({ length: 100 }, newId)
  own.jobId = (await api.post('contacts/bulk-delete', { contactIds })).body.data.jobId
  own.deliveries = (await api.post(`webhooks/${own.webhooks}/test`)).body.data.id
})

it('mounts these routes and no others', () => {
  const mounted = routes.filter((route) => route.surfaces.includes('public')).map(({ method, path }) => `${method} ${path}`)
  expect(mounted.sort()).toEqual(table.map(([method, path]) => `${method} /${path}`).sort())
})

function ask(method: string, path: string, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  const client = api(rig.gateway, key, headers)
  if (method === 'GET') return client.get(path)
  if (method === 'DELETE') return client.delete(path, { contactIds: [nobody] })
  return method === 'PUT'
    ? client.put(path, { events: ['message.read'], name: 'Changed' })
    : client.post(path, { contactIds: [nobody] })
}

describe('every route', () => {
  it.each(table)('%s %s needs a key', async (method, path) => {
    const address = path.replaceAll(/:\w+/g, nobody)
    expectRefusal(await ask(method, address, ''), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
    expectRefusal(await ask(method, address, `svc_live_${'0'.repeat(64)}`), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
  })

  it.each(table)('%s %s takes no other method', async (method, path) => {
    const allowed = table.filter(([, other]) => other === path).map(([name]) => name)
    const other = (['GET', 'POST', 'PUT', 'DELETE'] as const).find((name) => !allowed.includes(name)) as string
    const answer = await ask(other, path.replaceAll(/:\w+/g, nobody), rig.tenant.account.apiKey)
    expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED')
    const told = (answer.headers.get('allow') ?? '').split(', ')
    // A file can be asked for by its headers alone.
    expect(told.filter((name) => name !== 'HEAD' || path !== 'media/:id').sort()).toEqual([...allowed].sort())
    expect(allowed).toContain(method)
  })

  it.each(withIds)("%s %s says of another's id what it says of none", async (method, path) => {
    const at = (id: string) => path.replace(idOf, id).replace(':deliveryId', own.deliveries as string)
    const key = rig.stranger.account.apiKey
    const [foreign, missing] = [await ask(method, at(ownId(path)), key), await ask(method, at(nobody), key)]
    expectRefusal(foreign, 404, 'NOT_FOUND')
    expect(foreign.body).toEqual(missing.body)
    for (const id of ['5', `${nobody}0`, `{${nobody}}`, nobody.replaceAll('-', ''), "'%20or%201=1--"]) {
      expectRefusal(await ask(method, at(id), key), 400, 'VALIDATION_ERROR', /id: must be a UUID/i)
    }
  })
})

const reads = routes.flatMap((route) => (route.method === 'GET' && 'document' in route ? [[route.path, route] as const] : []))

it.each(reads)('GET %s answers what its row says it does', async (path, route) => {
  const address = path.slice(1).replace(idOf, ownId(path.slice(1)))
  const query = path === '/messages/history' ? '?phone=%2B393331234567' : ''
  const { status, body } = await rig.tenant.api.get(address + query)
  expect([status, Object.keys(body)]).toEqual([200, ['data']])
  expect(route.answer.parse(body.data)).toEqual(body.data)
})

it('has left everything of the tenant as it was', async () => {
  const { api, instance } = rig.tenant
  expect((await api.get(`instances/${instance.id}`)).body.data).toMatchObject({ status: 'connected', deletedAt: null })
  expect((await api.get(`contacts/${own.contacts}`)).body.data.name).toBe('Ada')
  expect((await api.get(`contacts/groups/${own.groupId}`)).body.data).toMatchObject({ name: 'Friends', membersCount: 1 })
  expect((await api.get(`templates/${own.templates}`)).body.data.name).toBe('Hello')
  expect((await api.get(`webhooks/${own.webhooks}`)).body.data.events).toEqual(['message.sent'])
  expect((await api.get(`messages/${own.messages}`)).body.data.status).not.toBe('cancelled')
})
