// Proves that the mounted REST routes are exactly those of the contract, that each needs a key, and that each allows only its
// own methods.
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { type Answer, api } from '../kit/api.ts'
import { expectRefusal, nobody, openRig, type Rig } from '../rest-compat/rig.ts'

/** Public routes, below `/api/v1`. A new route is added here when the contract includes it. */
const table = `
GET    billing/payments
GET    billing/plans
GET    billing/subscription
GET    billing/usage
GET    campaigns
POST   campaigns
GET    campaigns/:id
PUT    campaigns/:id
POST   campaigns/:id/cancel
POST   campaigns/:id/pause
POST   campaigns/:id/resume
GET    campaigns/:id/recipients
GET    campaigns/:id/recipients.csv
GET    campaigns/:id/stats
GET    contacts
POST   contacts
GET    contacts/:id
PUT    contacts/:id
DELETE contacts/:id
GET    contacts/:id/groups
GET    contacts/export.csv
GET    contacts/bulk-jobs
GET    contacts/bulk-jobs/:jobId
POST   contacts/bulk-jobs/:jobId/cancel
GET    contacts/bulk-jobs/:jobId/progress
POST   contacts/bulk-delete
POST   contacts/import
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
PUT    instances/:id
DELETE instances/:id
GET    instances/:id/state
GET    instances/:id/health
POST   instances/:id/connect
POST   instances/:id/logout
POST   instances/:id/sandbox/inbound
GET    me
POST   media
GET    media/:id
DELETE media/:id
GET    messages
GET    messages/:id
POST   messages/:id/cancel
POST   messages/:id/read
POST   messages/bulk
GET    messages/export.csv
GET    messages/history
POST   messages/schedule
POST   messages/send
POST   number-lookups
GET    retention-settings
PUT    retention-settings
POST   statuses
GET    suppression-settings
PUT    suppression-settings
GET    suppressions
POST   suppressions
DELETE suppressions/:phone
POST   suppressions/import
GET    templates
POST   templates
GET    templates/:id
PUT    templates/:id
DELETE templates/:id
POST   templates/import
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

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

it('mounts these routes and no others', () => {
  const mounted = routes.filter((route) => route.surfaces.includes('public')).map(({ method, path }) => `${method} ${path}`)
  expect(mounted.sort()).toEqual(table.map(([method, path]) => `${method} /${path}`).sort())
})

function ask(method: string, path: string, key: string): Promise<Answer> {
  const client = api(rig.gateway, key)
  return method === 'GET' ? client.get(path) : client[method.toLowerCase() as 'post' | 'put' | 'delete'](path, {})
}

describe('every route', () => {
  it.each(table)('%s %s needs a key', async (method, path) => {
    const address = path.replaceAll(/:\w+/g, nobody)
    expectRefusal(await ask(method, address, ''), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
    expectRefusal(await ask(method, address, `svc_live_${'0'.repeat(64)}`), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
  })

  it.each(table)('%s %s refuses any other method', async (method, path) => {
    const allowed = table.filter(([, other]) => other === path).map(([name]) => name)
    const other = (['GET', 'POST', 'PUT', 'DELETE'] as const).find((name) => !allowed.includes(name)) as string
    const answer = await ask(other, path.replaceAll(/:\w+/g, nobody), rig.tenant.account.apiKey)
    expectRefusal(answer, 405, 'METHOD_NOT_ALLOWED')
    const outcome = (answer.headers.get('allow') ?? '').split(', ')
    // A file also allows HEAD.
    const isFile = path === 'media/:id' || path.endsWith('.csv')
    expect(outcome.filter((name) => name !== 'HEAD' || !isFile).sort()).toEqual([...allowed].sort())
    expect(allowed).toContain(method)
  })
})
