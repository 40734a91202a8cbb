// DELETE contacts/{id}?erase=true and deleteContact(id, erase): the data that is erased with a contact, and the data that stays.
import { beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { samples, upload } from '../media/rig.ts'
import { expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
let tenant: Tenant

beforeAll(async () => {
  rig = await openRig()
  tenant = await newTenant(rig.gateway, rig.databaseUrl)
})

async function contactWith(phone: string): Promise<string> {
  return (await tenant.api.post('contacts', { name: 'Ada', phone })).body.data.id
}

async function send(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await tenant.api.post('messages/send', text(tenant, fields))
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.data.id
}

async function picture(): Promise<{ id: string; url: string }> {
  return (await upload(rig.gateway, tenant.account.apiKey, samples['image/png'] as Buffer)).body.data
}

/** A delivery of an event about the number, whose receiver answered with the number. */
async function answered(phone: string): Promise<string> {
  const endpoint = (await tenant.api.post('webhooks', { url: 'https://hooks.example/', events: ['instance.connected'] })).body
    .data.id
  const added = await until(async () => {
    const { rowCount } = await sql(rig.databaseUrl).query(
      `with delivery as (
         insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, status)
         select gen_random_uuid(), $1, v.seq, v.id, v.type, 'failed' from events v join messages m on m.id = v."messageId"
         where m.peer = $2 and m."workspaceId" = $3 order by v.seq limit 1 returning id
       )
       insert into webhook_attempts ("deliveryId", attempt, "endpointId", at, "durationMs", answer)
       select id, 1, $1, now(), 1, $2 from delivery`,
      [endpoint, phone, tenant.account.workspaceId],
    )
    return rowCount === 1
  })
  expect(added).toBe(true)
  return endpoint
}

const history = async (phone: string) =>
  (await tenant.api.get(`messages/history?phone=${encodeURIComponent(phone)}`)).body.data.messages as {
    id: string
    status: string
  }[]

describe('erase=true', () => {
  it('erases both directions, what has not left, their texts in the log, and files that nothing else uses', async () => {
    const { api } = tenant
    const phone = '+4915112350006'
    const id = await contactWith(phone)
    const [own, shared] = [await picture(), await picture()]
    await send({ to: phone, text: 'a secret' })
    for (const mediaUrl of [own.url, shared.url]) await send({ to: phone, type: 'image', mediaUrl, text: undefined })
    const other = await send({ to: newNumber(), type: 'image', mediaUrl: shared.url, text: undefined })
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    await api.post('messages/schedule', text(tenant, { to: phone, scheduledAt }))
    await until(async () => {
      const inbound = (await api.get('messages?direction=inbound')).body.data.messages
      const open = (await history(phone)).filter((message) => ['queued', 'sending', 'sent'].includes(message.status))
      return inbound.length > 0 && open.length === 1
    })
    const endpoint = await answered(phone)
    await api.post('suppressions', { phone })
    const usage = (await api.get('usage')).body.data
    const answer = await api.delete(`contacts/${id}?erase=true`)
    expect([answer.status, answer.body]).toEqual([200, { data: { id, deleted: true } }])
    await until(async () => (await history(phone)).length === 0, { timeoutMs: 10_000 })
    expect((await api.get('messages?direction=inbound')).body.data.messages).toEqual([])
    const { rows: simulated } = await sql(rig.databaseUrl).query(
      'select from sandbox_messages where "instanceId" = $1 and "to" = $2',
      [tenant.instance.id, phone],
    )
    expect(simulated).toEqual([])
    await until(async () => (await api.get(`media/${own.id}`)).status === 404)
    expect((await api.get(`media/${shared.id}`)).status).toBe(200)
    expect((await api.get(`messages/${other}`)).status).toBe(200)
    expect((await api.get('suppressions')).body.data.suppressions).toMatchObject([{ phone, reason: 'manual' }])
    expect((await api.get('usage')).body.data.messagesCount).toBe(usage.messagesCount)
    const { rows } = await sql(rig.databaseUrl).query<{ payload: string }>(
      `select payload::text from events where "workspaceId" = $1 union all select payload::text from outbox where "workspaceId" = $1`,
      [tenant.account.workspaceId],
    )
    expect(rows.length).toBeGreaterThan(3)
    expect(rows.filter(({ payload }) => payload.includes(phone) || payload.includes('secret'))).toEqual([])
    const attempts = await sql(rig.databaseUrl).query(
      'select attempt from webhook_attempts where "endpointId" = $1 and answer is not null',
      [endpoint],
    )
    expect(attempts.rowCount).toBe(0)
  })

  it('keeps a file that a message names which is accepted at the same time', async () => {
    const phone = newNumber()
    const id = await contactWith(phone)
    const { id: file, url } = await picture()
    await send({ to: phone, type: 'image', mediaUrl: url, text: undefined })
    await until(async () => (await history(phone))[0]?.status === 'read')
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const other = text(tenant, { type: 'image', mediaUrl: url, text: undefined, scheduledAt })
    const [scheduled] = await whileHeld(
      rig.databaseUrl,
      ['select from usage where "userId" = $1 for update', tenant.account.userId],
      [() => tenant.api.post('messages/schedule', other), () => tenant.api.delete(`contacts/${id}?erase=true`)],
    )
    expect(scheduled?.status).toBe(201)
    await until(async () => (await history(phone)).length === 0, { timeoutMs: 10_000 })
    expect((await tenant.api.get(`media/${file}`)).status).toBe(200)
  })

  it('erases through the graph alike', async () => {
    const phone = newNumber()
    const id = await contactWith(phone)
    await send({ to: phone })
    const mutation = 'mutation ($id: ID!) { deleteContact(id: $id, erase: true) { id deleted } }'
    expect((await tenant.api.graphql(mutation, { id })).body.data.deleteContact).toEqual({ id, deleted: true })
    await until(async () => (await history(phone)).length === 0, { timeoutMs: 10_000 })
  })
})

it('answers a repeated request as one for a record that is gone, and sends nothing again', async () => {
  const { api } = tenant
  const [phone, longer] = [newNumber(), newNumber()]
  const key = (name: string) => ({ 'idempotency-key': `${phone} ${name}` })
  const repeat = [
    () => api.post('contacts', { name: 'Ada', phone }, key('contact')),
    () => api.post('messages/send', text(tenant, { to: phone, text: 'a secret' }), key('message')),
    () => api.post('messages/send', text(tenant, { to: longer, text: `about ${phone}` }), key('other')),
  ]
  const first = await Promise.all(repeat.map((request) => request()))
  expect(first.map(({ status }) => status)).toEqual([201, 201, 201])
  const [contact, , other] = first
  await api.delete(`contacts/${contact?.body.data.id}?erase=true`)
  await until(async () => (await (repeat[1] as (typeof repeat)[0])()).status === 404, { timeoutMs: 10_000 })
  const [again, , unrelated] = await Promise.all(repeat.map((request) => request()))
  expectRefusal(again as Answer, 404, 'NOT_FOUND')
  expect(unrelated?.body.data).toEqual(other?.body.data)
  expect(await history(phone)).toEqual([])
})

it('keeps the results of requests from after the erasure was asked for', async () => {
  const { api } = tenant
  const phone = newNumber()
  // Before the contact, so that its deletion does not change the message.
  const old = await send({ to: phone })
  const id = await contactWith(phone)
  const key = (name: string) => ({ 'idempotency-key': `${phone} ${name}` })
  const message = text(tenant, { to: phone })
  const later = [
    () => api.post('messages/send', message, key('message')),
    () => api.post('contacts', { name: 'Ada', phone }, key('contact')),
  ]
  // The erasure waits for this row, and so comes after the requests.
  const holder = await sql(rig.databaseUrl).connect()
  let first: Answer[]
  try {
    await holder.query('begin')
    await holder.query('select from messages where id = $1 for update', [old])
    expect((await api.delete(`contacts/${id}?erase=true`)).status).toBe(200)
    first = await Promise.all(later.map((request) => request()))
  } finally {
    await holder.query('commit')
    holder.release()
  }
  await until(async () => {
    const jobs = await sql(rig.databaseUrl).query(
      `select from pgboss.job where name = 'messages.erase' and data->>'phone' = $1 and state <> 'completed'`,
      [phone],
    )
    return jobs.rowCount === 0
  })
  expect((await api.get(`messages/${old}`)).status).toBe(404)
  const again = await Promise.all(later.map((request) => request()))
  expect(again.map(({ status, body }) => [status, body.data.id])).toEqual(first.map(({ body }) => [201, body.data.id]))
})

it('returns the quota of a message that waits for another attempt and certainly has not left', async () => {
  const { api, account } = tenant
  const phone = newNumber()
  const contactId = await contactWith(phone)
  const before = (await api.get('usage')).body.data.messagesCount
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const { id } = (await api.post('messages/schedule', text(tenant, { to: phone, scheduledAt }))).body.data
  const pool = sql(rig.databaseUrl)
  const { rows } = await pool.query<{ period: string }>(
    `update usage set "messagesCount" = "messagesCount" + 1 where "userId" = $1 and "carriedInto" is null returning period::text`,
    [account.userId],
  )
  await pool.query(`update messages set status = 'sending', attempts = 1, "countedPeriod" = $2::date where id = $1`, [
    id,
    rows[0]?.period,
  ])
  expect((await api.get('usage')).body.data.messagesCount).toBe(before + 1)
  await api.delete(`contacts/${contactId}?erase=true`)
  await until(async () => (await history(phone)).length === 0, { timeoutMs: 10_000 })
  expect((await api.get('usage')).body.data.messagesCount).toBe(before)
})

it.each(['', '?erase=false', '?erase='])('%j keeps the messages', async (query) => {
  const phone = newNumber()
  const id = await contactWith(phone)
  await send({ to: phone })
  expect((await tenant.api.delete(`contacts/${id}${query}`)).status).toBe(200)
  expect(await history(phone)).toHaveLength(1)
})

it('refuses every other value of erase, and keeps the contact', async () => {
  const id = await contactWith(newNumber())
  for (const value of ['1', 'yes', 'TRUE']) {
    expectRefusal(
      await tenant.api.delete(`contacts/${id}?erase=${value}`),
      400,
      'VALIDATION_ERROR',
      'erase: must be true or false',
    )
  }
  expect((await tenant.api.get(`contacts/${id}`)).status).toBe(200)
})

it('erases nothing for another workspace', async () => {
  const phone = newNumber()
  const id = await contactWith(phone)
  await send({ to: phone })
  expectRefusal(await rig.stranger.api.delete(`contacts/${id}?erase=true`), 404, 'NOT_FOUND')
  expectRefusal(await rig.stranger.api.delete(`contacts/${id}?erase=true`, undefined, { 'x-api-key': '' }), 401, 'UNAUTHORIZED')
  expect(await history(phone)).toHaveLength(1)
})
