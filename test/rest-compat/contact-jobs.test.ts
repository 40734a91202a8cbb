// REST rows of what is done to many contacts at once.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { createTeam } from '../../src/teams/service.ts'
import { addContacts, addGroup, membersOf, watchJob } from '../contacts/bulk-rig.ts'
import { type Api, api, sql } from '../kit/kit.ts'
import { expectRefusal, moment, newTenant, nobody, openRig, type Rig, type Tenant, uuid } from './rig.ts'

let rig: Rig
let client: Api
let workspaceId: string

beforeAll(async () => {
  rig = await openRig()
  client = rig.tenant.api
  workspaceId = rig.tenant.account.workspaceId
})

const strangers = (count: number) => Array.from({ length: count }, newId)
const contacts = (count: number) => addContacts(rig.databaseUrl, workspaceId, count)
const group = (members?: readonly string[]) => addGroup(rig.databaseUrl, workspaceId, members)
const members = (groupId: string) => membersOf(rig.databaseUrl, groupId)

describe('adding to a group', () => {
  it('of fewer than 100 is done at once, and counts each once', async () => {
    const ids = await contacts(5)
    const groupId = await group(ids.slice(0, 2))
    const [foreign] = await addContacts(rig.databaseUrl, rig.stranger.account.workspaceId, 1)
    const contactIds = [...ids, ...ids, ids[0]?.toUpperCase(), nobody, foreign]
    const { status, body } = await client.post(`contacts/groups/${groupId}/members`, { contactIds, more: 1 })
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { data: { added: 3, alreadyInGroup: 2, notFound: 2, total: 7 } },
    })
    expect(await members(groupId)).toEqual({ rows: 5, counter: 5 })
  })

  it('of 100 is a job that tells exactly what it is', async () => {
    const ids = await contacts(100)
    const groupId = await group(ids.slice(0, 10))
    const contactIds = [...ids.slice(0, 90), ...strangers(10), ...ids.slice(0, 50)]
    const { status, body } = await client.post(`contacts/groups/${groupId}/members`, { contactIds })
    expect({ status, body }).toStrictEqual({
      status: 202,
      body: {
        data: {
          mode: 'async',
          jobId: uuid,
          status: 'pending',
          operation: 'add_to_group',
          requestedCount: 100,
          groupId,
          progress: 0,
          message: expect.any(String),
        },
      },
    })
    const { jobId } = body.data
    const record = (await watchJob(client, jobId)).at(-1)
    const item = {
      id: jobId,
      operation: 'add_to_group',
      status: 'done',
      requestedCount: 100,
      processedCount: 100,
      progress: 100,
      groupId,
      summary: { added: 80, alreadyInGroup: 10, notFound: 10 },
      createdAt: moment,
      updatedAt: moment,
      completedAt: moment,
    }
    expect(record).toStrictEqual({ ...item, error: null })
    expect((await client.get(`contacts/bulk-jobs/${jobId}`)).body).toStrictEqual({ data: record })
    expect((await client.get('contacts/bulk-jobs?limit=1')).body.data.jobs).toStrictEqual([item])
    expect(await members(groupId)).toEqual({ rows: 90, counter: 90 })
  })

  it('of 99 different ones is done at once, however often they stand there', async () => {
    const ids = await contacts(99)
    const groupId = await group()
    const { status, body } = await client.post(`contacts/groups/${groupId}/members`, { contactIds: [...ids, ...ids] })
    expect([status, body.data]).toEqual([200, { added: 99, alreadyInGroup: 0, notFound: 0, total: 99 }])
  })

  it('to no group, or to a stranger’s, is refused at once, whatever the number', async () => {
    const foreign = await addGroup(rig.databaseUrl, rig.stranger.account.workspaceId)
    for (const contactIds of [strangers(1), strangers(200)]) {
      const answers = await Promise.all(
        [foreign, nobody].map((id) => client.post(`contacts/groups/${id}/members`, { contactIds })),
      )
      for (const answer of answers) expectRefusal(answer, 404, 'NOT_FOUND', 'Contact group not found')
    }
  })
})

describe('removing from a group', () => {
  it('is done at once, of 10,000 too', async () => {
    const ids = await contacts(300)
    const groupId = await group(ids.slice(0, 200))
    const contactIds = [...ids, ...ids, ...strangers(9_700)]
    const { status, body } = await client.delete(`contacts/groups/${groupId}/members`, { contactIds })
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { data: { removed: 200, notFound: 9_800, total: 10_000 } },
    })
    expect(await members(groupId)).toEqual({ rows: 0, counter: 0 })
    const again = await client.delete(`contacts/groups/${groupId}/members`, { contactIds: ids.slice(0, 1) })
    expect(again.body.data).toEqual({ removed: 0, notFound: 1, total: 1 })
  })

  it('from no group, or a stranger’s, is refused', async () => {
    const foreign = await addGroup(rig.databaseUrl, rig.stranger.account.workspaceId)
    for (const id of [foreign, nobody]) {
      const answer = await client.delete(`contacts/groups/${id}/members`, { contactIds: [nobody] })
      expectRefusal(answer, 404, 'NOT_FOUND', 'Contact group not found')
    }
  })
})

describe('deleting', () => {
  it('of fewer than 100 is done at once, and names those that were not there', async () => {
    const ids = await contacts(3)
    const groups = [await group(ids), await group(ids.slice(0, 1)), await group()]
    const [foreign] = (await addContacts(rig.databaseUrl, rig.stranger.account.workspaceId, 1)) as [string]
    const contactIds = [nobody, ...ids.slice(0, 2), foreign, ids[0], nobody]
    const { status, body } = await client.post('contacts/bulk-delete', { contactIds })
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { data: { requested: 4, deleted: 2, notFound: [nobody, foreign] } },
    })
    const left = await Promise.all(groups.map(members))
    expect(left).toEqual([1, 0, 0].map((n) => ({ rows: n, counter: n })))
    const { rows } = await sql(rig.databaseUrl).query('select id from contacts where id = any($1)', [[...ids, foreign]])
    expect(rows.map(({ id }) => id).sort()).toEqual([ids[2], foreign].sort())
  })

  it('of 100 is a job without a group', async () => {
    const ids = await contacts(100)
    const groups = [await group(ids), await group(ids.slice(50))]
    const contactIds = [...ids.slice(0, 90), ...strangers(10)]
    const { status, body } = await client.post('contacts/bulk-delete', { contactIds })
    expect({ status, body }).toStrictEqual({
      status: 202,
      body: {
        data: {
          mode: 'async',
          jobId: uuid,
          status: 'pending',
          operation: 'bulk_delete_contacts',
          requestedCount: 100,
          progress: 0,
          message: expect.any(String),
        },
      },
    })
    const record = (await watchJob(client, body.data.jobId)).at(-1)
    expect(record).toStrictEqual({
      id: body.data.jobId,
      operation: 'bulk_delete_contacts',
      status: 'done',
      requestedCount: 100,
      processedCount: 100,
      progress: 100,
      summary: { deleted: 90, notFound: 10 },
      error: null,
      createdAt: moment,
      updatedAt: moment,
      completedAt: moment,
    })
    expect(await Promise.all(groups.map(members))).toEqual([10, 10].map((n) => ({ rows: n, counter: n })))
  })

  it('leaves messages without their contact', async () => {
    const [contactId] = (await contacts(1)) as [string]
    const { instance, account } = rig.tenant
    const id = newId()
    await sql(rig.databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, status, warnings, safety)
       values ($1, $2, $3, $4, $5, 'text', '+4930123456', '+4930123456', 'Hello', 'failed', '{}', '{"decision":"allow","riskLevel":"low","state":"stable","score":100}')`,
      [id, workspaceId, account.userId, instance.id, contactId],
    )
    expect((await client.get(`messages/${id}`)).body.data.contactId).toBe(contactId)
    expect((await client.post('contacts/bulk-delete', { contactIds: [contactId] })).body.data.deleted).toBe(1)
    expect((await client.get(`messages/${id}`)).body.data).toMatchObject({ contactId: null, to: '+4930123456' })
  })
})

describe('contactIds', () => {
  const ways: [name: string, ask: (body: unknown) => Promise<Awaited<ReturnType<Api['post']>>>][] = [
    ['POST members', async (body) => await client.post(`contacts/groups/${await group()}/members`, body)],
    ['DELETE members', async (body) => await client.delete(`contacts/groups/${await group()}/members`, body)],
    ['POST bulk-delete', async (body) => await client.post('contacts/bulk-delete', body)],
  ]

  it.each(ways)('are judged by name, and each by its place, by %s', async (_, ask) => {
    const bad: [body: unknown, message: string][] = [
      [{}, 'contactIds: is required'],
      [{ contactIds: null }, 'contactIds: is required'],
      [{ contactIds: nobody }, 'contactIds: must be an array'],
      [{ contactIds: {} }, 'contactIds: must be an array'],
      [{ contactIds: [] }, 'contactIds: must have at least 1 item'],
      [{ contactIds: [nobody, '5', nobody, ''] }, 'contactIds.1: must be a UUID; contactIds.3: must be a UUID'],
      [{ contactIds: [nobody, null] }, 'contactIds.1: is required'],
      [{ contactIds: [nobody, { id: nobody }] }, 'contactIds.1: must be of type ID'],
      [{ contactIds: [5] }, 'contactIds.0: must be a UUID'],
      [{ contactIds: strangers(10_001) }, 'contactIds: must have at most 10000 different ids'],
      [[nobody], 'body: must be a JSON object'],
    ]
    for (const [body, message] of bad) expectRefusal(await ask(body), 400, 'VALIDATION_ERROR', message)
  })

  it.each(ways)('may be 10,000 different ones, and stand there twice, by %s', async (_, ask) => {
    const ids = strangers(10_000)
    expect([200, 202]).toContain((await ask({ contactIds: [...ids, ...ids] })).status)
  })

  it('do not make an answer larger than anybody reads', async () => {
    const { status, body } = await client.post('contacts/bulk-delete', { contactIds: Array(200_000).fill(null) })
    expect([status, body.error.message.length < 5_000]).toEqual([400, true])
  })

  it('of 1 MiB and more are too many', async () => {
    const contactIds = Array(30_000).fill(nobody)
    expectRefusal(await client.post('contacts/bulk-delete', { contactIds }), 413, 'PAYLOAD_TOO_LARGE')
  })
})

describe('a job', () => {
  it('that has ended cannot be cancelled', async () => {
    const { jobId } = (await client.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
    await watchJob(client, jobId)
    const told = 'The bulk job is done; only one that has not ended can be cancelled'
    expectRefusal(await client.post(`contacts/bulk-jobs/${jobId}/cancel`), 409, 'INVALID_STATE', told)
  })

  it('of somebody else is not there', async () => {
    const { jobId } = (await client.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
    for (const id of [jobId, nobody]) {
      for (const path of [`contacts/bulk-jobs/${id}`, `contacts/bulk-jobs/${id}/progress`]) {
        expectRefusal(await rig.stranger.api.get(path), 404, 'NOT_FOUND', 'Bulk job not found')
      }
      expectRefusal(await rig.stranger.api.post(`contacts/bulk-jobs/${id}/cancel`), 404, 'NOT_FOUND', 'Bulk job not found')
    }
    expectRefusal(await client.get('contacts/bulk-jobs/5'), 400, 'VALIDATION_ERROR', 'jobId: must be a UUID')
  })

  it('is made once for one Idempotency-Key, and answered byte for byte', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const contactIds = await addContacts(rig.databaseUrl, tenant.account.workspaceId, 150)
    const headers = { 'idempotency-key': 'once' }
    const first = await tenant.api.post('contacts/bulk-delete', { contactIds }, headers)
    await watchJob(tenant.api, first.body.data.jobId)
    const second = await tenant.api.post('contacts/bulk-delete', { contactIds }, headers)
    expect([second.status, second.body, second.headers.get('idempotency-replayed')]).toEqual([202, first.body, 'true'])
    expect((await tenant.api.get('contacts/bulk-jobs')).body.data.jobs).toHaveLength(1)
  })
})

describe('the list of jobs', () => {
  let tenant: Tenant
  let jobIds: string[]

  beforeAll(async () => {
    tenant = await newTenant(rig.gateway, rig.databaseUrl)
    jobIds = []
    for (let i = 0; i < 7; i++) {
      const { body } = await tenant.api.post('contacts/bulk-delete', { contactIds: strangers(100) })
      jobIds.unshift(body.data.jobId)
    }
  })

  it('comes newest first, by the id of the last job of the page before', async () => {
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { status, body } = await tenant.api.get(`contacts/bulk-jobs?limit=3${cursor && `&cursor=${cursor}`}`)
      expect([status, Object.keys(body.data)]).toEqual([200, ['jobs', 'nextCursor', 'hasMore']])
      seen.push(...body.data.jobs.map((job: { id: string }) => job.id))
      expect(body.data.nextCursor).toBe(body.data.hasMore ? seen.at(-1) : null)
      if (!body.data.hasMore) break
      cursor = body.data.nextCursor
      // One that comes while somebody pages is neither told twice nor in the way.
      await tenant.api.post('contacts/bulk-delete', { contactIds: strangers(100) })
    }
    expect(seen).toEqual(jobIds)
  })

  it('neither says why a job failed, nor of a group where there is none', async () => {
    const { body } = await tenant.api.get('contacts/bulk-jobs')
    for (const job of body.data.jobs) expect(Object.keys(job)).not.toEqual(expect.arrayContaining(['error']))
    for (const job of body.data.jobs) expect(Object.keys(job)).not.toEqual(expect.arrayContaining(['groupId']))
  })

  it.each([
    ['limit=0', /^limit: /],
    ['limit=101', /^limit: /],
    ['limit=x', /^limit: /],
    ['cursor=x', /^cursor: must be a UUID$/],
    ['cursor=', /^cursor: must be a UUID$/],
    [`cursor=${nobody}`, /^cursor: is not a job of this list$/],
  ])('with %s is refused', async (query, message) => {
    expectRefusal(await tenant.api.get(`contacts/bulk-jobs?${query}`), 400, 'VALIDATION_ERROR', message)
  })

  it('takes no job of somebody else as a place', async () => {
    const answer = await rig.stranger.api.get(`contacts/bulk-jobs?cursor=${jobIds[0]}`)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'cursor: is not a job of this list')
    expect((await rig.stranger.api.get('contacts/bulk-jobs')).body.data).toEqual({ jobs: [], nextCursor: null, hasMore: false })
  })
})

it('is for the keys of teams too, each in its own workspace', async () => {
  const team = await createTeam(sql(rig.databaseUrl), { ownerEmail: rig.tenant.account.email, name: 'Bulk team' })
  const ours = api(rig.gateway, team.apiKey, { 'x-team-id': team.teamId })
  const [own] = (await addContacts(rig.databaseUrl, team.workspaceId, 1)) as [string]
  const [personal] = (await contacts(1)) as [string]
  const groupId = await addGroup(rig.databaseUrl, team.workspaceId)
  const { body } = await ours.post(`contacts/groups/${groupId}/members`, { contactIds: [own, personal] })
  expect(body.data).toEqual({ added: 1, alreadyInGroup: 0, notFound: 1, total: 2 })
})

it('adds nothing without a usable subscription, and still deletes', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [tenant.account.userId])
  const groupId = await addGroup(rig.databaseUrl, tenant.account.workspaceId)
  const contactIds = [nobody]
  expectRefusal(await tenant.api.post(`contacts/groups/${groupId}/members`, { contactIds }), 403, 'SUBSCRIPTION_INACTIVE')
  expect((await tenant.api.delete(`contacts/groups/${groupId}/members`, { contactIds })).status).toBe(200)
  expect((await tenant.api.post('contacts/bulk-delete', { contactIds })).status).toBe(200)
})
