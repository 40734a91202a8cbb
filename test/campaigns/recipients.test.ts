// The recipients of a campaign: each with its status and error, in pages, by status, and all of them as CSV; on REST and in the graph.
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, moment, nobody, openRig, type Rig, uuid } from '../rest-compat/rig.ts'
import { campaignTo, expectCreated, numbers, reach, statsOf } from './rig.ts'

interface Recipient {
  to: string
  status: string
  messageId: string | null
  error: string | null
}

const states = ['planned', 'queued', 'sent', 'delivered', 'read', 'failed', 'cancelled'] as const
let rig: Rig
/** A campaign with at least one recipient in every state. */
let id: string
let to: string[]
let contactId: string

beforeAll(async () => {
  rig = await openRig()
  const { api, instance } = rig.tenant
  const body = 'Code {{custom.code}}'
  const template = (await api.post('templates', { name: newId(), type: 'text', body })).body.data
  to = numbers(13)
  contactId = (await api.post('contacts', { name: 'Zoe', phone: to[0] })).body.data.id
  const recipients = to.map((number, i) => ({ to: number, ...(i !== 2 && i !== 5 && { variables: { code: `c${i}` } }) }))
  const fields = { type: undefined, text: undefined, templateId: template.id, recipients }
  id = expectCreated(await api.post('campaigns', campaignTo(instance.id, [], fields)))
  await reach(api, id, 'completed')
  await until(async () => (await statsOf(api, id)).stats.read === 11)
  // Brings the others into every state. An accepted message is left alone by the gateway.
  for (const [i, state] of ['sending', 'queued', 'sent', 'sent', 'delivered', 'failed', 'cancelled'].entries()) {
    await sql(rig.databaseUrl).query(
      `update messages set status = $3::message_status, "updatedAt" = now(), error = case $3::text when 'failed' then 'UNREACHABLE' end
       where "campaignId" = $1 and "to" = $2`,
      [id, to[6 + i], state],
    )
  }
  const change = `update campaign_recipients set status = $3::recipient_status, "messageId" = null, "updatedAt" = now() where "campaignId" = $1 and position = $2`
  await sql(rig.databaseUrl).query(`delete from messages where "campaignId" = $1 and "to" = any($2)`, [id, [to[3], to[4]]])
  await sql(rig.databaseUrl).query(change, [id, 4, 'planned'])
  await sql(rig.databaseUrl).query(change, [id, 5, 'cancelled'])
})

async function page(query = ''): Promise<{ recipients: Recipient[]; nextCursor: string | null; hasMore: boolean }> {
  const answer = await rig.tenant.api.get(`campaigns/${id}/recipients${query}`)
  expect(answer.status).toBe(200)
  return answer.body.data
}

async function allOf(status?: string, limit = 4): Promise<Recipient[]> {
  const found: Recipient[] = []
  let cursor: string | null = null
  do {
    const { recipients, nextCursor, hasMore } = await page(
      `?limit=${limit}${status ? `&status=${status}` : ''}${cursor ? `&cursor=${cursor}` : ''}`,
    )
    expect(hasMore).toBe(nextCursor !== null)
    found.push(...recipients)
    cursor = nextCursor
  } while (cursor)
  return found
}

const expected = 'read read failed planned cancelled failed queued queued sent sent delivered failed cancelled'.split(' ')

describe('the recipients of a campaign', () => {
  it('are listed in the order of sending, each with its status, over any number of pages', async () => {
    for (const limit of [1, 4, 100]) {
      const found = await allOf(undefined, limit)
      expect(found.map((one) => [one.to, one.status])).toEqual(to.map((number, i) => [number, expected[i]]))
    }
    const { recipients } = await page()
    expect(recipients[0]).toStrictEqual({ to: to[0], contactId, messageId: uuid, status: 'read', error: null, updatedAt: moment })
    const { body } = await rig.tenant.api.get(`messages/${recipients[0]?.messageId}`)
    expect(body.data).toMatchObject({ to: to[0], status: 'read', campaignId: id })
  })

  it('that failed are named with their error, also those with a missing template value', async () => {
    const missing = { contactId: null, messageId: null, status: 'failed', error: 'TEMPLATE_INVALID', updatedAt: moment }
    const { recipients } = await page('?status=failed')
    expect(recipients).toStrictEqual([
      { ...missing, to: to[2] },
      { ...missing, to: to[5] },
      { to: to[11], contactId: null, messageId: uuid, status: 'failed', error: 'UNREACHABLE', updatedAt: moment },
    ])
  })

  it.each(states)('are filtered by %s, page by page, as many as the counter says', async (status) => {
    const found = await allOf(status, 1)
    expect(found.map((one) => one.to).sort()).toEqual(to.filter((_, i) => expected[i] === status).sort())
    expect(found.every((one) => one.status === status)).toBe(true)
    expect((await statsOf(rig.tenant.api, id)).stats[status]).toBe(found.length)
  })

  it('are in the graph alike, with their contact and message, forwards and backwards', async () => {
    const query = `query ($id: ID!, $status: CampaignRecipientStatus, $last: Int, $before: String) { campaign(id: $id) {
      recipients(status: $status, last: $last, before: $before) { totalCount pageInfo { startCursor hasPreviousPage }
        nodes { to contactId messageId status error updatedAt contact { name } message { id status } } } } }`
    const ask = async (variables: object) =>
      (await rig.tenant.api.graphql(query, { id, ...variables })).body.data.campaign.recipients
    const { nodes, totalCount } = await ask({})
    expect(totalCount).toBe(13)
    const rest = (await page()).recipients
    expect(nodes.map(({ contact: _, message: __, ...record }: { contact: unknown; message: unknown }) => record)).toEqual(rest)
    expect(nodes[0]).toMatchObject({ contact: { name: 'Zoe' }, message: { id: nodes[0].messageId, status: 'read' } })
    const failed = await ask({ status: 'failed', last: 1 })
    expect([failed.nodes[0].to, failed.totalCount, failed.pageInfo.hasPreviousPage]).toEqual([to[11], 3, true])
    const before = await ask({ status: 'failed', last: 2, before: failed.pageInfo.startCursor })
    expect(before.nodes.map((one: Recipient) => one.to)).toEqual([to[2], to[5]])
  })

  it('are refused to another account, and with a wrong status or cursor', async () => {
    const { api } = rig.tenant
    const get = (path: string): Promise<Answer> => api.get(`campaigns/${path}`)
    expectRefusal(await rig.stranger.api.get(`campaigns/${id}/recipients`), 404, 'NOT_FOUND', 'Campaign not found')
    expectRefusal(await get(`${nobody}/recipients`), 404, 'NOT_FOUND', 'Campaign not found')
    expectRefusal(await get('x/recipients'), 400, 'VALIDATION_ERROR', 'id: must be a UUID')
    expectRefusal(await get(`${id}/recipients?status=enqueued`), 400, 'VALIDATION_ERROR', /^status: must be one of planned, /)
    const { nextCursor } = await page('?limit=1')
    const other = await get(`${id}/recipients?status=read&cursor=${nextCursor}`)
    expectRefusal(other, 400, 'VALIDATION_ERROR', 'cursor: is not a cursor of this list, sort and filters')
  })
})

describe('the CSV of the recipients', () => {
  const fetchCsv = (path: string, key: string, method = 'GET') =>
    fetch(`${rig.gateway.url}/api/v1/campaigns/${path}`, { method, headers: { 'x-api-key': key } })

  it('has the fields of the record as columns, and a line for each recipient', async () => {
    const { apiKey } = rig.tenant.account
    const response = await fetchCsv(`${id}/recipients.csv`, apiKey)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="recipients.csv"`)
    const text = await response.text()
    expect(text.startsWith('to,contactId,messageId,status,error,updatedAt\n')).toBe(true)
    const rows: Record<string, string>[] = parse(text, { columns: true })
    const listed = (await page()).recipients.map((record) =>
      Object.fromEntries(Object.entries({ ...record, to: `'${record.to}` }).map(([name, value]) => [name, value ?? ''])),
    )
    expect(rows).toEqual(listed)
    const head = await fetchCsv(`${id}/recipients.csv`, apiKey, 'HEAD')
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([200, 'text/csv; charset=utf-8', ''])
  })

  it('has a line for each of many recipients, in the order of sending', async () => {
    const { api, account, instance } = rig.tenant
    const many = numbers(1_203, '5555', 50_000)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const large = expectCreated(await api.post('campaigns', campaignTo(instance.id, many, { scheduledAt })))
    const rows: string[][] = parse(await (await fetchCsv(`${large}/recipients.csv`, account.apiKey)).text())
    expect(rows.slice(1).map(([number, , , status]) => [number, status])).toEqual(many.map((one) => [`'${one}`, 'planned']))
  })

  it('is refused to another account, and for a malformed id', async () => {
    const { account, api } = rig.tenant
    expect((await fetchCsv(`${id}/recipients.csv`, rig.stranger.account.apiKey)).status).toBe(404)
    expectRefusal(await api.get(`campaigns/${nobody}/recipients.csv`), 404, 'NOT_FOUND', 'Campaign not found')
    expect((await fetchCsv('x/recipients.csv', account.apiKey)).status).toBe(400)
    expect((await fetchCsv(`${id}/recipients.csv`, '')).status).toBe(401)
  })
})
