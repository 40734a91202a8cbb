// REST routes that change many contacts: few are changed at once, many by a job with an exact record.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { createTeam } from '../../src/teams/service.ts'
import { addContacts, addGroup, membersOf, strangers, watchJob } from '../contacts/bulk-rig.ts'
import { type Api, api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { expectRefusal, moment, newTenant, nobody, openRig, type Rig, uuid } from './rig.ts'

let rig: Rig
let client: Api
let workspaceId: string

beforeAll(async () => {
  rig = await openRig()
  client = rig.tenant.api
  workspaceId = rig.tenant.account.workspaceId
})

const contacts = (count: number) => addContacts(rig.databaseUrl, workspaceId, count)
const group = (members?: readonly string[]) => addGroup(rig.databaseUrl, workspaceId, members)
const members = (groupId: string) => membersOf(rig.databaseUrl, groupId)

describe('adding contacts to a group', () => {
  it('is done at once for fewer than 100 ids, and counts each distinct id once', async () => {
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

  it('creates a job for 100 ids and returns its exact record', async () => {
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

  it('is done at once for 99 distinct ids, however often each is repeated', async () => {
    const ids = await contacts(99)
    const groupId = await group()
    const { status, body } = await client.post(`contacts/groups/${groupId}/members`, { contactIds: [...ids, ...ids] })
    expect([status, body.data]).toEqual([200, { added: 99, alreadyInGroup: 0, notFound: 0, total: 99 }])
  })

  it('is refused at once for a missing group or one of another account, for any number of ids', async () => {
    const foreign = await addGroup(rig.databaseUrl, rig.stranger.account.workspaceId)
    for (const contactIds of [strangers(1), strangers(200)]) {
      const answers = await Promise.all(
        [foreign, nobody].map((id) => client.post(`contacts/groups/${id}/members`, { contactIds })),
      )
      for (const answer of answers) expectRefusal(answer, 404, 'NOT_FOUND', 'Contact group not found')
    }
  })
})

describe('removing contacts from a group', () => {
  it('is done at once, for 10,000 ids too', async () => {
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

  it('is refused for a missing group or one of another account', async () => {
    const foreign = await addGroup(rig.databaseUrl, rig.stranger.account.workspaceId)
    for (const id of [foreign, nobody]) {
      const answer = await client.delete(`contacts/groups/${id}/members`, { contactIds: [nobody] })
      expectRefusal(answer, 404, 'NOT_FOUND', 'Contact group not found')
    }
  })
})

describe('deleting contacts', () => {
  it('is done at once for fewer than 100 ids, and returns the ids that were not found', async () => {
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

  it('creates a job without a group for 100 ids', async () => {
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

  it('keeps the messages of a deleted contact, without their contactId', async () => {
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

it('adds group members with a team key, only from the workspace of that team', async () => {
  const team = await createTeam(prisma(rig.databaseUrl), { ownerEmail: rig.tenant.account.email, name: 'Bulk team' })
  const ours = api(rig.gateway, team.apiKey, { 'x-team-id': team.teamId })
  const [own] = (await addContacts(rig.databaseUrl, team.workspaceId, 1)) as [string]
  const [personal] = (await contacts(1)) as [string]
  const groupId = await addGroup(rig.databaseUrl, team.workspaceId)
  const { body } = await ours.post(`contacts/groups/${groupId}/members`, { contactIds: [own, personal] })
  expect(body.data).toEqual({ added: 1, alreadyInGroup: 0, notFound: 1, total: 2 })
})

it('refuses to add members without an active subscription, and still removes and deletes', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl)
  await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [tenant.account.userId])
  const groupId = await addGroup(rig.databaseUrl, tenant.account.workspaceId)
  const contactIds = [nobody]
  expectRefusal(await tenant.api.post(`contacts/groups/${groupId}/members`, { contactIds }), 403, 'SUBSCRIPTION_INACTIVE')
  expect((await tenant.api.delete(`contacts/groups/${groupId}/members`, { contactIds })).status).toBe(200)
  expect((await tenant.api.post('contacts/bulk-delete', { contactIds })).status).toBe(200)
})
