// A contact that is deleted after the campaign was made gets nothing, whether its message is planned, queued, or was given back.
import { beforeAll, describe, expect, it } from 'vitest'
import { detachedAtOnce } from '../../src/contacts/detach-messages.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { withdrawFrom } from '../../src/messages/dispatch/withdraw.ts'
import { connectedInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import type { InnerGateway } from '../kit/open-gateway.ts'
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

const left = (to: string | undefined, messageId: string | null = null) => ({
  to,
  messageId,
  contactId: null,
  error: 'CONTACT_DELETED',
})

interface Told {
  payload: { to: string }
  message: { id: string; status: string; errorCode: string | null }
}

/** The events that say that messages to these numbers were cancelled, in their order. */
async function cancellations(to: readonly string[]): Promise<Told[]> {
  const { body } = await client.graphql(
    '{ events(last: 50, types: [message_cancelled]) { nodes { payload message { id status errorCode } } } }',
  )
  return body.data.events.nodes.filter(({ payload }: Told) => to.includes(payload.to))
}

/** A campaign whose messages wait for an instance that is away. */
async function queuedCampaign(contactIds: readonly string[]): Promise<{ id: string; away: string }> {
  const away = await connectedInstance(scene.databaseUrl, scene.account, { status: 'disconnected' })
  const id = expectCreated(await client.post('campaigns', campaignTo(away.id, [], { contactIds, recipients: undefined })))
  await until(async () => (await statsOf(client, id)).stats.queued === contactIds.length)
  return { id, away: away.id }
}

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
    const { databaseUrl } = scene
    const { to, ids } = await newContacts(4)
    const { id, away } = await queuedCampaign(ids)
    const count = async () => (await client.get('usage')).body.data.messagesCount as number
    const before = await count()
    await client.delete(`contacts/${ids[0]}`)
    const bulk = await client.post('contacts/bulk-delete', { contactIds: [ids[2]] })
    expect(bulk.body.data).toMatchObject({ deleted: 1 })
    expect(await count()).toBe(before - 2)
    const told = await until(async () => {
      const found = await cancellations(to)
      return found.length >= 2 ? found : undefined
    })
    expect(told.map(({ payload }) => payload.to)).toEqual([to[0], to[2]])
    for (const { message } of told) expect(message).toMatchObject({ status: 'cancelled', errorCode: 'CONTACT_DELETED' })
    expect(await cancelledOf(id)).toEqual([left(to[0], told[0]?.message.id), left(to[2], told[1]?.message.id)])
    await client.post(`instances/${away}/connect`, {})
    const { stats } = await reach(client, id, 'completed')
    expect([stats.total, stats.cancelled]).toEqual([4, 2])
    await expectOnceEach(databaseUrl, id, [to[1], to[3]] as string[])
    expect(await cancellations(to)).toHaveLength(2)
  })

  it('gets nothing although its message is queued and it has very many others', async () => {
    const { to, ids } = await newContacts(1)
    const { id } = await queuedCampaign(ids)
    const { workspaceId, userId } = scene.account
    await sql(scene.databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, safety, status)
       select gen_random_uuid(), $1, $2, $3, $4, 'text', $5, $5, 'hello', '{}', 'delivered' from generate_series(1, $6::int)`,
      [workspaceId, userId, scene.phone.id, ids[0], to[0], 2 * detachedAtOnce],
    )
    expect((await client.delete(`contacts/${ids[0]}`)).status).toBe(200)
    expect((await statsOf(client, id)).stats).toMatchObject({ queued: 0, cancelled: 1 })
  })

  it('has each of its messages told as cancelled once, in statements of bounded size', async () => {
    const { to, ids } = await newContacts(5)
    const { id } = await queuedCampaign(ids)
    const sizes: number[] = []
    await sqlTransaction(sql(scene.databaseUrl), async (tx) => {
      const query = async (statement: string | { text: string }, values?: unknown[]) => {
        const result = await (tx.query as (...args: unknown[]) => Promise<{ rowCount: number }>)(statement, values)
        if (/update messages/.test(typeof statement === 'string' ? statement : statement.text)) sizes.push(result.rowCount)
        return result
      }
      const giveBack = await withdrawFrom((scene.gateways[0] as InnerGateway).app, { query } as unknown as Sql, ids, 2)
      await giveBack()
    })
    expect(sizes).toEqual([2, 2, 1])
    await until(async () => (await cancellations(to)).length === 5)
    expect((await statsOf(client, id)).stats.cancelled).toBe(5)
  })

  it('leaves no number in the event log if it is erased', async () => {
    const { to, ids } = await newContacts(1)
    await queuedCampaign(ids)
    await client.delete(`contacts/${ids[0]}?erase=true`)
    const logged = async () => {
      const { rows } = await sql(scene.databaseUrl).query(
        'select payload::text from outbox where payload::text like $1 union all select payload::text from events where payload::text like $1',
        [`%${to[0]}%`],
      )
      return rows
    }
    await until(async () => (await logged()).length === 0)
  })

  it('leaves no text for it in campaigns that have not reached it if it is erased', async () => {
    const { to, ids } = await newContacts(1)
    const template = { name: `For ${to[0]}`, type: 'text', body: 'Dear {{contact.name}}' }
    const templateId = (await client.post('templates', template)).body.data.id
    const content = { type: undefined, text: undefined, templateId, recipients: undefined, contactIds: ids, scheduledAt: later() }
    const [scheduled, cancelled] = [
      expectCreated(await client.post('campaigns', campaignTo(scene.phone.id, [], content))),
      expectCreated(await client.post('campaigns', campaignTo(scene.phone.id, [], content))),
    ]
    await client.post(`campaigns/${cancelled}/cancel`)
    await client.delete(`contacts/${ids[0]}?erase=true`)
    const texts = `select body, parameters, status::text, error from campaign_recipients where "campaignId" = any($1) order by error`
    const rows = async () => (await sql(scene.databaseUrl).query(texts, [[scheduled, cancelled]])).rows
    const ended = { body: null, parameters: null, status: 'cancelled' }
    await until(async () => (await rows()).every(({ body }) => body === null))
    expect(await rows()).toEqual([
      { ...ended, error: 'CONTACT_DELETED' },
      { ...ended, error: null },
    ])
  })

  it('completes a paused campaign whose last planned recipient is erased, and has it counted again', async () => {
    const { to, ids } = await newContacts(2)
    const content = { recipients: undefined, contactIds: ids, scheduledAt: later() }
    const id = expectCreated(await client.post('campaigns', campaignTo(scene.phone.id, [], content)))
    await client.post(`campaigns/${id}/pause`)
    const pool = sql(scene.databaseUrl)
    // At rest, so that the process keeps the counts.
    const past = `"updatedAt" = now() - interval '3 minutes', "lastActivityAt" = now() - interval '3 minutes'`
    const rest = () => pool.query(`update campaigns set ${past} where id = $1`, [id])
    await rest()
    expect((await statsOf(client, id)).stats).toMatchObject({ planned: 2, cancelled: 0 })
    await client.delete(`contacts/${ids[0]}?erase=true`)
    await until(async () => (await statsOf(client, id)).stats.planned === 1)
    expect(await statsOf(client, id)).toMatchObject({ status: 'paused', stats: { planned: 1, cancelled: 1 } })
    await rest()
    await client.delete(`contacts/${ids[1]}?erase=true`)
    expect((await reach(client, id, 'completed')).stats).toMatchObject({ total: 2, planned: 0, cancelled: 2 })
    expect(await cancelledOf(id)).toEqual([left(to[0]), left(to[1])])
  })

  it('leaves single messages to the number alone', async () => {
    const { to, ids } = await newContacts(1)
    const body = { instanceId: scene.phone.id, to: to[0], type: 'text', text: 'Hello', scheduledAt: later() }
    const { id } = (await client.post('messages/schedule', body)).body.data
    await client.delete(`contacts/${ids[0]}`)
    expect((await client.get(`messages/${id}`)).body.data.status).toBe('queued')
  })
})
