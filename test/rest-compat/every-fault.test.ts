// A refusal names every fault of a request at once: those of its path, its query, its body and its form.
import { beforeAll, describe, expect, it } from 'vitest'
import { openRig, type Rig } from './rig.ts'

const e164 = 'must be an E.164 number, for example +393331234567'
const limit = 'limit: must be a whole number from 1 to 100'
const id = 'id: must be a UUID'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

async function refusal(answer: Promise<{ status: number; body: { error?: { code: string; message: string } } }>) {
  const { status, body } = await answer
  expect([status, body.error?.code]).toEqual([400, 'VALIDATION_ERROR'])
  return body.error?.message
}

describe('a refusal of a list', () => {
  it.each([
    [
      'messages?limit=0&sort=up&direction=z&to=1',
      `${limit}; sort: must be one of createdAt:desc, createdAt:asc; direction: must be one of outbound, inbound; to: ${e164}`,
    ],
    ['messages?limit=0&status=&to=%2B393331234567', limit],
    ['messages?limit=0&cursor=x', `${limit}; cursor: is not a cursor`],
    ['messages/history?limit=0&phone=1', `${limit}; phone: ${e164}`],
    [
      'messages/export.csv?sort=up&direction=z',
      'sort: must be one of createdAt:desc, createdAt:asc; direction: must be one of outbound, inbound',
    ],
    ['contacts?limit=101&groupId=x', `${limit}; groupId: must be a UUID`],
    [
      'contacts/export.csv?sort=up&groupId=x',
      'sort: must be one of createdAt:desc, createdAt:asc, name:asc, name:desc; groupId: must be a UUID',
    ],
    ['contacts/bulk-jobs?limit=0&cursor=x', `${limit}; cursor: must be a UUID`],
    ['webhooks/x/deliveries?limit=0&status=z', `${id}; ${limit}; status: must be one of pending, delivered, retrying, failed`],
    ['contacts/groups/x/members?limit=0', `groupId: must be a UUID; ${limit}`],
  ])('names every fault: GET %s', async (path, message) => {
    expect(await refusal(rig.tenant.api.get(path))).toBe(message)
  })

  it('comes before what the path does not lead to', async () => {
    const unknown = '01980000-0000-7000-8000-000000000009'
    expect(await refusal(rig.tenant.api.get(`webhooks/${unknown}/deliveries?limit=0`))).toBe(limit)
  })
})

describe('a refusal of a body', () => {
  it('names the settings of a network beside the other faults', async () => {
    const settings = { phoneNumberId: '1', businessAccountId: '2', accessToken: 'a', colour: 'red' }
    expect(await refusal(rig.tenant.api.post('instances', { name: '', provider: 'cloud', settings }))).toBe(
      'name: must not be empty; settings.appSecret: is required; settings.colour: is unknown',
    )
  })

  it('names the ids of the path, too', async () => {
    expect(await refusal(rig.tenant.api.post('instances/x/connect', { phone: '1' }))).toBe(`${id}; phone: ${e164}`)
    expect(await refusal(rig.tenant.api.post('webhooks/x/deliveries/y/redeliver', {}))).toBe(`${id}; deliveryId: must be a UUID`)
  })

  it('names every field of a form', async () => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ mapping: '{', groupId: 'x', onConflict: 'z' })) body.append(name, value)
    body.append('file', new Blob(['name,phone']), 'people.csv')
    const url = new URL('/api/v1/contacts/import', rig.gateway.url)
    const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': rig.tenant.account.apiKey }, body })
    expect(await response.json()).toEqual({
      error: {
        code: 'VALIDATION_ERROR',
        message: 'mapping: must be a JSON object; groupId: must be a UUID; onConflict: must be one of skip, update',
      },
    })
  })
})
