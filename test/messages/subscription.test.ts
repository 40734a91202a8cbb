// Without a usable subscription nothing leaves: neither what was scheduled, nor what waited for its instance. Connecting and looking up numbers
// is refused, on REST and in the graph.
import { beforeEach, expect, it } from 'vitest'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { bringForward } from './rig.ts'

const { databaseUrl, url } = commons()

let account: Account
let client: Api

beforeEach(async () => {
  account = await createAccount(databaseUrl)
  client = api({ url }, account.apiKey)
})

async function setStatus(status: string): Promise<void> {
  await sql(databaseUrl).query('update subscriptions set status = $2::subscription_status where "userId" = $1', [
    account.userId,
    status,
  ])
}

async function failed(id: string) {
  return await until(async () => {
    const { data } = (await client.get(`messages/${id}`)).body
    return data.status === 'failed' && data
  })
}

async function used(): Promise<number> {
  return (await client.get('usage')).body.data.messagesCount
}

it('fails a scheduled message whose time comes, with its event, and takes no quota', async () => {
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const { body } = await client.post('messages/schedule', {
    instanceId,
    to: '+393331234567',
    type: 'text',
    text: 'hello',
    scheduledAt,
  })
  await setStatus('inactive')
  await bringForward(databaseUrl, [body.data.id])
  expect(await failed(body.data.id)).toMatchObject({ error: 'SUBSCRIPTION_INACTIVE' })
  // The message was queued for its time, and fails when that comes: no other event.
  const events = await until(async () => {
    const { rows } = await sql(databaseUrl).query<{ payload: object }>(
      `select payload from events where "messageId" = $1 order by seq`,
      [body.data.id],
    )
    return rows.length > 1 && rows.map(({ payload }) => payload)
  })
  expect(events).toMatchObject([{ event: 'message.queued' }, { event: 'message.failed', error: 'SUBSCRIPTION_INACTIVE' }])
  expect(await used()).toBe(0)
  const { rows } = await sql(databaseUrl).query('select from sandbox_messages where reference = $1', [body.data.id])
  expect(rows).toHaveLength(0)
})

it('fails a message that waited for its instance, and gives its quota back', async () => {
  const { id: instanceId } = await connectedInstance(databaseUrl, account, { status: 'disconnected' })
  const { body } = await client.post('messages/send', { instanceId, to: '+393331234567', type: 'text', text: 'hello' })
  await until(async () => {
    const { rows } = await sql(databaseUrl).query('select "waitingSince" as since from messages where id = $1', [body.data.id])
    return rows[0]?.since
  })
  expect(await used()).toBe(1)
  await setStatus('inactive')
  await sql(databaseUrl).query(`update instances set status = 'connected' where id = $1`, [instanceId])
  await bringForward(databaseUrl, [body.data.id])
  expect(await failed(body.data.id)).toMatchObject({ error: 'SUBSCRIPTION_INACTIVE' })
  expect(await used()).toBe(0)
})

it('refuses to connect an instance and to look up numbers, and allows both again with a usable subscription', async () => {
  const { id: instanceId } = await connectedInstance(databaseUrl, account)
  const lookup = { instanceId, numbers: ['+393331234567'] }
  const mutations = [
    `mutation { connectInstance(id: "${instanceId}") { status } }`,
    `mutation { lookupNumbers(input: { instanceId: "${instanceId}", numbers: ["+393331234567"] }) { exists } }`,
  ]
  const outcomes = async () => {
    const rest = [await client.post(`instances/${instanceId}/connect`), await client.post('number-lookups', lookup)]
    const graph = await Promise.all(mutations.map((mutation) => client.graphql(mutation)))
    return [
      ...rest.map(({ status, body }) => [status, body.error?.code]),
      ...graph.map(({ body }) => body.errors?.[0].extensions.code),
    ]
  }
  await setStatus('inactive')
  const refused = [403, 'SUBSCRIPTION_INACTIVE']
  expect(await outcomes()).toEqual([refused, refused, 'SUBSCRIPTION_INACTIVE', 'SUBSCRIPTION_INACTIVE'])
  await setStatus('active')
  expect(await outcomes()).toEqual([[200, undefined], [200, undefined], undefined, undefined])
})
