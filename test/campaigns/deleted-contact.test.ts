// A contact that is deleted after the campaign was made gets nothing, whether its message is planned, queued, or was given back.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { campaignTo, expectCreated, expectOnceEach, numbers, reach, statsOf } from './rig.ts'

let scene: Scene
let client: Api
let used = 0

beforeAll(async () => {
  scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
  client = scene.client()
})

async function newContacts(count: number): Promise<{ to: string[]; ids: string[] }> {
  const to = numbers(count, '5555', used)
  used += count
  const ids: string[] = []
  for (const phone of to) ids.push((await client.post('contacts', { name: 'Zoe', phone })).body.data.id)
  return { to, ids }
}

const later = () => new Date(Date.now() + 3_600_000).toISOString()

async function cancelledOf(id: string) {
  const { recipients } = (await client.get(`campaigns/${id}/recipients?status=cancelled`)).body.data
  return recipients.map(({ to, messageId, contactId, error }: Record<string, unknown>) => ({ to, messageId, contactId, error }))
}

const left = (to: string | undefined) => ({ to, messageId: null, contactId: null, error: 'CONTACT_DELETED' })

describe('a contact that is deleted after the campaign was made', () => {
  it('gets nothing when its turn comes', async () => {
    const { to, ids } = await newContacts(3)
    const time = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16)
    const quietHours = { from: time(-3_600_000), to: time(3_600_000), timeZone: 'UTC' }
    const body = campaignTo(scene.phone.id, [], { contactIds: ids, recipients: undefined, quietHours })
    const id = expectCreated(await client.post('campaigns', body))
    await client.delete(`contacts/${ids[1]}`)
    await client.put(`campaigns/${id}`, { quietHours: null })
    const { stats } = await reach(client, id, 'completed')
    expect([stats.total, stats.cancelled]).toEqual([3, 1])
    expect(await cancelledOf(id)).toEqual([left(to[1])])
    await expectOnceEach(scene.databaseUrl, id, [to[0], to[2]] as string[])
  })

  it('gets nothing although its message is queued, and the quota comes back', async () => {
    const { databaseUrl, account } = scene
    const { to, ids } = await newContacts(4)
    const away = await connectedInstance(databaseUrl, account, { status: 'disconnected' })
    const body = campaignTo(away.id, [], { contactIds: ids, recipients: undefined })
    const id = expectCreated(await client.post('campaigns', body))
    await until(async () => (await statsOf(client, id)).stats.queued === 4)
    const count = async () => (await client.get('usage')).body.data.messagesCount as number
    const before = await count()
    await client.delete(`contacts/${ids[0]}`)
    const bulk = await client.post('contacts/bulk-delete', { contactIds: [ids[2]] })
    expect(bulk.body.data).toMatchObject({ deleted: 1 })
    expect(await count()).toBe(before - 2)
    expect(await cancelledOf(id)).toEqual([left(to[0]), left(to[2])])
    await client.post(`instances/${away.id}/connect`, {})
    await reach(client, id, 'completed')
    await expectOnceEach(databaseUrl, id, [to[1], to[3]] as string[])
    const { rows } = await sql(databaseUrl).query(`select from messages where "campaignId" = $1`, [id])
    expect(rows).toHaveLength(2)
  })

  it('leaves single messages to the number alone', async () => {
    const { to, ids } = await newContacts(1)
    const body = { instanceId: scene.phone.id, to: to[0], type: 'text', text: 'Hello', scheduledAt: later() }
    const { id } = (await client.post('messages/schedule', body)).body.data
    await client.delete(`contacts/${ids[0]}`)
    expect((await client.get(`messages/${id}`)).body.data.status).toBe('queued')
  })
})
