// Bulk jobs of contacts: by the graph, live, cancelled, without their group, side by side.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { openSse } from '../events/sse.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { api as apiOf, sql, startGateway, until } from '../kit/kit.ts'
import { moment, newTenant, nobody, openRig, type Rig, type Tenant, uuid } from '../rest-compat/rig.ts'
import { addContacts, addGroup, type Job, membersOf, watchJob } from './bulk-rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const strangers = (count: number) => Array.from({ length: count }, newId)
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

describe('the graph', () => {
  it('does what is little at once', async () => {
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

  it('leaves what is much to a job, of 10,000 as variables too', async () => {
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

  it('knows the groups of its jobs, as long as they are there', async () => {
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

  it('refuses in the words of REST', async () => {
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
  it('is told live, from where it stands to its end, and its progress only rises', async () => {
    const { tenant, gateway } = rig
    const groupId = await groupOf(tenant)
    const contactIds = await contactsOf(tenant, 8_000)
    const { job } = await ask(tenant, 'add', { groupId, contactIds })
    const query = `subscription ($id: ID!) { bulkJob(id: $id) { status processedCount progress summary { added } } }`
    const headers = { 'x-api-key': tenant.account.apiKey }
    const reader = await openSse(`${gateway.url}/graphql`, { headers, body: { query, variables: { id: job.id } } })
    const told = () => reader.events.flatMap(({ data }) => JSON.parse(data ?? '{}').data?.bulkJob ?? []) as Job[]
    await until(() => told().at(-1)?.status === 'done')
    const counts = told().map(({ processedCount }) => processedCount)
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    for (const { processedCount, progress, summary } of told()) {
      expect([progress, summary.added]).toEqual([Math.floor(processedCount / 80), processedCount])
    }
    expect(told().length).toBeGreaterThan(1)
    const foreign = await openSse(`${gateway.url}/graphql`, {
      headers: { 'x-api-key': rig.stranger.account.apiKey },
      body: { query, variables: { id: job.id } },
    })
    await until(() => foreign.ended)
    expect(`${foreign.text}${JSON.stringify(foreign.events)}`).toContain('NOT_FOUND')
  })

  it('holds up neither the jobs of others nor those that answer at once', async () => {
    const busy = await newTenant(rig.gateway, rig.databaseUrl)
    const contactIds = await contactsOf(busy, 10_000)
    for (let i = 0; i < 5; i++) {
      const groupId = await groupOf(busy)
      expect((await busy.api.post(`contacts/groups/${groupId}/members`, { contactIds })).status).toBe(202)
    }
    const { tenant } = rig
    const { jobId } = (await tenant.api.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
    await watchJob(tenant.api, jobId)
    const open = await busy.api.get('contacts/bulk-jobs')
    expect(open.body.data.jobs.filter(({ status }: Job) => status !== 'done').length).toBeGreaterThan(2)
    for (const { id } of open.body.data.jobs) await watchJob(busy.api, id)
  })
})

describe('in the middle', () => {
  /** A gateway of its own whose third chunk takes a while, and a job of 5,000 on it that has come so far. */
  async function begin(): Promise<{ rig: Rig; groupId: string; jobId: string }> {
    const rig = await openRig({ FAILPOINT: 'bulk.mid_chunk:3=sleep:4000' })
    const { api, account } = rig.tenant
    const groupId = await addGroup(rig.databaseUrl, account.workspaceId)
    const contactIds = await addContacts(rig.databaseUrl, account.workspaceId, 5_000)
    const { jobId } = (await api.post(`contacts/groups/${groupId}/members`, { contactIds })).body.data
    // The chunk has done its work and not committed it.
    const inside = `select from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and query like 'update contact_groups%'`
    await until(async () => {
      const { processedCount } = (await api.get(`contacts/bulk-jobs/${jobId}`)).body.data
      return processedCount === 1_000 && (await sql(rig.databaseUrl).query(inside)).rowCount === 1
    })
    expect((await api.get(`contacts/bulk-jobs/${jobId}`)).body.data.status).toBe('processing')
    return { rig, groupId, jobId }
  }

  it('a job can be cancelled: the chunk under way counts, and nothing after it', async () => {
    const { rig, groupId, jobId } = await begin()
    const { api } = rig.tenant
    const { status, body } = await api.post(`contacts/bulk-jobs/${jobId}/cancel`)
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        data: {
          id: jobId,
          operation: 'add_to_group',
          status: 'cancelled',
          requestedCount: 5_000,
          processedCount: 1_500,
          progress: 30,
          groupId,
          summary: { added: 1_500, alreadyInGroup: 0, notFound: 0 },
          error: null,
          createdAt: moment,
          updatedAt: moment,
          completedAt: moment,
        },
      },
    })
    await isOver(rig)
    expect(await membersOf(rig.databaseUrl, groupId)).toEqual({ rows: 1_500, counter: 1_500 })
    expect((await api.get(`contacts/bulk-jobs/${jobId}`)).body).toEqual(body)
    const again = await api.post(`contacts/bulk-jobs/${jobId}/cancel`)
    expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATE'])
    await expectInvariants(rig.databaseUrl)
  })

  it('a job whose group is deleted fails, and says why', async () => {
    const { rig, groupId, jobId } = await begin()
    await sql(rig.databaseUrl).query('delete from contact_groups where id = $1', [groupId])
    const job = (await watchJob(rig.tenant.api, jobId)).at(-1)
    expect(job).toMatchObject({ status: 'failed', error: 'NOT_FOUND', groupId, processedCount: 1_500, completedAt: moment })
    const listed = (await rig.tenant.api.get('contacts/bulk-jobs')).body.data.jobs[0]
    expect(listed).toMatchObject({ id: jobId, status: 'failed', summary: { added: 1_500 } })
    await isOver(rig)
    await expectInvariants(rig.databaseUrl)
  })

  it('a process that is told to stop hands its job back after the chunk', async () => {
    const { rig, groupId, jobId } = await begin()
    expect((await rig.gateway.stop()).code).toBe(0)
    const { rows } = await sql(rig.databaseUrl).query('select "processedCount" as n from bulk_jobs where id = $1', [jobId])
    expect(rows).toEqual([{ n: 1_500 }])
    const heir = await startGateway({ databaseUrl: rig.databaseUrl })
    const job = (await watchJob(apiOf(heir, rig.tenant.account.apiKey), jobId)).at(-1)
    expect(job).toMatchObject({ status: 'done', summary: { added: 5_000, alreadyInGroup: 0, notFound: 0 } })
    expect(await membersOf(rig.databaseUrl, groupId)).toEqual({ rows: 5_000, counter: 5_000 })
    await expectInvariants(rig.databaseUrl)
  })
})

it('deals with fewer at a time where many take longer than a statement may', async () => {
  const { databaseUrl, tenant } = await openRig()
  // Stands for contacts with very many messages, each of which loses its contact.
  await sql(databaseUrl).query(`
    create function take_time() returns trigger language plpgsql as $$ begin perform pg_sleep(0.03); return old; end $$;
    create trigger take_time before delete on contacts for each row execute function take_time()`)
  const contactIds = await addContacts(databaseUrl, tenant.account.workspaceId, 400)
  const { jobId } = (await tenant.api.post('contacts/bulk-delete', { contactIds })).body.data
  const told = await watchJob(tenant.api, jobId, 60_000)
  expect(told.map(({ processedCount }) => processedCount)).toEqual([0, 100, 200, 300, 400])
  expect(told.at(-1)).toMatchObject({ status: 'done', summary: { deleted: 400, notFound: 0 } })
}, 90_000)

it('keeps every promise through all of that', async () => {
  await expectInvariants(rig.databaseUrl)
})

/** Nobody works on a job any more. */
async function isOver({ databaseUrl }: Rig): Promise<void> {
  const open = `select from pgboss.job where name = 'contact.bulk' and state < 'completed'`
  await until(async () => (await sql(databaseUrl).query(open)).rowCount === 0)
}
