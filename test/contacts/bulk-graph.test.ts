// Bulk changes of contacts over GraphQL: at once or by a job, paging, refusals, and live progress.
import { beforeAll, describe, expect, it } from 'vitest'
import { openSse } from '../events/sse.ts'
import { sql } from '../kit/database.ts'
import { hold } from '../kit/fault.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { moment, newTenant, nobody, openOwnRig, type Rig, type Tenant, uuid } from '../rest-compat/rig.ts'
import { addContacts, addGroup, type Job, strangers, watchJob } from './bulk-rig.ts'

let rig: Rig

beforeAll(async () => {
  // The invariants are checked over the whole database, so no other test may write rows to it meanwhile.
  rig = await openOwnRig()
})

const contactsOf = (tenant: Tenant, count: number) => addContacts(rig.databaseUrl, tenant.account.workspaceId, count)
const groupOf = (tenant: Tenant) => addGroup(rig.databaseUrl, tenant.account.workspaceId)

const record = `id operation status requestedCount processedCount progress groupId summary { added alreadyInGroup deleted notFound }
  error createdAt updatedAt completedAt`
const documents = {
  add: `mutation ($groupId: ID!, $contactIds: [ID!]!) {
    result: addGroupMembers(groupId: $groupId, contactIds: $contactIds) { added alreadyInGroup notFound total job { ${record} } } }`,
  remove: `mutation ($groupId: ID!, $contactIds: [ID!]!) {
    result: removeGroupMembers(groupId: $groupId, contactIds: $contactIds) { removed notFound total } }`,
  destroy: `mutation ($contactIds: [ID!]!) {
    result: bulkDeleteContacts(contactIds: $contactIds) { requested deleted notFound job { ${record} } } }`,
  cancel: `mutation ($id: ID!) { result: cancelBulkJob(id: $id) { ${record} } }`,
  job: `query ($id: ID!) { result: bulkJob(id: $id) { ${record} } }`,
  jobs: `query ($first: Int, $after: String, $last: Int, $before: String) {
    result: bulkJobs(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`,
}

async function ask(tenant: Tenant, document: keyof typeof documents, variables: Record<string, unknown>) {
  const { body } = await tenant.api.graphql(documents[document], variables)
  const [error] = body.errors ?? []
  return error ? { code: error.extensions.code, message: error.message } : body.data.result
}

describe('GraphQL', () => {
  it('executes small changes at once', async () => {
    const { tenant } = rig
    const groupId = await groupOf(tenant)
    const contactIds = await contactsOf(tenant, 3)
    const done = { added: 3, alreadyInGroup: 0, notFound: 0, total: 3, job: null }
    expect(await ask(tenant, 'add', { groupId, contactIds })).toEqual(done)
    const removed = await ask(tenant, 'remove', { groupId, contactIds: contactIds.slice(0, 1) })
    expect(removed).toEqual({ removed: 1, notFound: 0, total: 1 })
    const deleted = await ask(tenant, 'destroy', { contactIds: [...contactIds, nobody] })
    expect(deleted).toEqual({ requested: 4, deleted: 3, notFound: [nobody], job: null })
  })

  it('creates a job for a large change, up to 10,000 ids in variables', async () => {
    const { tenant } = rig
    const groupId = await groupOf(tenant)
    const contactIds = [...(await contactsOf(tenant, 9_000)), ...strangers(1_000)]
    const { job, ...counts } = await ask(tenant, 'add', { groupId, contactIds })
    expect(counts).toEqual({ added: null, alreadyInGroup: null, notFound: null, total: null })
    const begun = {
      id: uuid,
      operation: 'add_to_group',
      status: 'pending',
      requestedCount: 10_000,
      processedCount: 0,
      progress: 0,
      groupId,
      summary: { added: 0, alreadyInGroup: 0, deleted: null, notFound: 0 },
      error: null,
      createdAt: moment,
      updatedAt: moment,
      completedAt: null,
    }
    expect(job).toStrictEqual(begun)
    await watchJob(tenant.api, job.id)
    expect(await ask(tenant, 'job', { id: job.id })).toStrictEqual({
      ...begun,
      status: 'done',
      processedCount: 10_000,
      progress: 100,
      summary: { added: 9_000, alreadyInGroup: 0, deleted: null, notFound: 1_000 },
      completedAt: moment,
    })
    const destroyed = await ask(tenant, 'destroy', { contactIds: strangers(100) })
    expect(destroyed).toMatchObject({ requested: null, deleted: null, notFound: [], job: { groupId: null } })
  })

  it('resolves the group of each job as long as the group exists', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const groups = [await groupOf(tenant), await groupOf(tenant)]
    for (const groupId of groups) {
      const { job } = await ask(tenant, 'add', { groupId, contactIds: await contactsOf(tenant, 100) })
      await watchJob(tenant.api, job.id)
    }
    await ask(tenant, 'destroy', { contactIds: strangers(100) })
    await sql(rig.databaseUrl).query('delete from contact_groups where id = $1', [groups[0]])
    const { body } = await tenant.api.graphql('{ bulkJobs { nodes { operation group { id membersCount } } } }')
    expect(body.data.bulkJobs.nodes).toEqual([
      { operation: 'bulk_delete_contacts', group: null },
      { operation: 'add_to_group', group: { id: groups[1], membersCount: 100 } },
      { operation: 'add_to_group', group: null },
    ])
  })

  it('refuses with the same code and message as REST', async () => {
    const { tenant, stranger } = rig
    const groupId = await groupOf(tenant)
    const { jobId } = (await tenant.api.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
    await watchJob(tenant.api, jobId)
    const same = async (rest: Promise<{ body: { error: unknown } }>, document: keyof typeof documents, variables: object) => {
      expect(await ask(tenant, document, variables as Record<string, unknown>)).toEqual((await rest).body.error)
    }
    const members = (id: string) => `contacts/groups/${id}/members`
    for (const contactIds of [undefined, null, [], ['5', null, {}], [nobody, '5'], strangers(10_001)]) {
      await same(tenant.api.post(members(groupId), { contactIds }), 'add', { groupId, contactIds })
      await same(tenant.api.delete(members(groupId), { contactIds }), 'remove', { groupId, contactIds })
      await same(tenant.api.post('contacts/bulk-delete', { contactIds }), 'destroy', { contactIds })
    }
    const contactIds = [nobody]
    for (const id of [nobody, '5', await groupOf(stranger)]) {
      await same(tenant.api.post(members(id), { contactIds }), 'add', { groupId: id, contactIds })
      await same(tenant.api.delete(members(id), { contactIds }), 'remove', { groupId: id, contactIds })
    }
    for (const id of [jobId, nobody]) await same(tenant.api.post(`contacts/bulk-jobs/${id}/cancel`), 'cancel', { id })
  })

  it('pages jobs forward and backward', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift((await ask(tenant, 'destroy', { contactIds: strangers(100) })).job.id)
    const page = async (variables: object) => {
      const { edges, pageInfo } = await ask(tenant, 'jobs', { ...variables })
      const seen = edges.map((edge: { cursor: string; node: { id: string } }) => edge.node.id)
      expect(edges.map((edge: { cursor: string }) => edge.cursor)).toEqual(seen)
      return [seen.map((id: string) => ids.indexOf(id)), pageInfo.hasPreviousPage, pageInfo.hasNextPage]
    }
    expect(await page({})).toEqual([[0, 1, 2, 3, 4], false, false])
    expect(await page({ first: 2 })).toEqual([[0, 1], false, true])
    expect(await page({ first: 2, after: ids[1] })).toEqual([[2, 3], true, true])
    expect(await page({ first: 2, after: ids[3] })).toEqual([[4], true, false])
    expect(await page({ last: 2 })).toEqual([[3, 4], true, false])
    expect(await page({ last: 2, before: ids[1] })).toEqual([[0], false, true])
    expect(await page({ first: 9, after: ids[0], before: ids[3] })).toEqual([[1, 2], true, false])
    for (const wrong of [{ first: 1, last: 1 }, { first: 0 }, { last: 101 }, { after: 'x' }, { before: nobody }]) {
      expect(await ask(tenant, 'jobs', wrong)).toMatchObject({ code: 'VALIDATION_ERROR' })
    }
  })
})

describe('a job', () => {
  it('is published live from its start to its end, and its progress never decreases', async () => {
    const { tenant, gateway } = rig
    const groupId = await groupOf(tenant)
    const contactIds = await contactsOf(tenant, 8_000)
    const { release } = await hold(rig.databaseUrl, 'insert', 'contact_group_members')
    const { job } = await ask(tenant, 'add', { groupId, contactIds })
    const query = `subscription ($id: ID!) { bulkJob(id: $id) { status processedCount progress summary { added } } }`
    const headers = { 'x-api-key': tenant.account.apiKey }
    const reader = await openSse(`${gateway.url}/graphql`, { headers, body: { query, variables: { id: job.id } } })
    const outcome = () => reader.events.flatMap(({ data }) => JSON.parse(data ?? '{}').data?.bulkJob ?? []) as Job[]
    // The job is blocked until the subscription has delivered its first value.
    await until(() => outcome().length > 0)
    await release()
    await until(() => outcome().at(-1)?.status === 'done')
    const counts = outcome().map(({ processedCount }) => processedCount)
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    for (const { processedCount, progress, summary } of outcome()) {
      expect([progress, summary.added]).toEqual([Math.floor(processedCount / 80), processedCount])
    }
    expect(outcome().length).toBeGreaterThan(1)
    const foreign = await openSse(`${gateway.url}/graphql`, {
      headers: { 'x-api-key': rig.stranger.account.apiKey },
      body: { query, variables: { id: job.id } },
    })
    await until(() => foreign.ended)
    expect(`${foreign.text}${JSON.stringify(foreign.events)}`).toContain('NOT_FOUND')
  })
})

it('keeps every invariant through the tests above', async () => {
  await expectInvariants(rig.databaseUrl)
})
