// Bulk jobs of contacts at work: concurrent, cancelled, with a deleted group, handed back at shutdown, and in smaller chunks.
import { beforeAll, describe, expect, it } from 'vitest'
import { takeTurn } from '../../src/contacts/bulk/bulk.sql.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { api as apiOf } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { moment, newTenant, type OwnRig, openOwnRig } from '../rest-compat/rig.ts'
import { addContacts, addGroup, type Job, membersOf, strangers, watchJob } from './bulk-rig.ts'

it('long jobs of one account do not delay a job of another', async () => {
  const rig = await openOwnRig()
  const busy = await newTenant(rig.gateway, rig.databaseUrl)
  const { workspaceId } = busy.account
  const contactIds = await addContacts(rig.databaseUrl, workspaceId, 5_000)
  for (let i = 0; i < 5; i++) {
    const groupId = await addGroup(rig.databaseUrl, workspaceId)
    expect((await busy.api.post(`contacts/groups/${groupId}/members`, { contactIds })).status).toBe(202)
  }
  const { tenant } = rig
  const { jobId } = (await tenant.api.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
  await watchJob(tenant.api, jobId, 60_000)
  const open = await busy.api.get('contacts/bulk-jobs')
  expect(open.body.data.jobs.filter(({ status }: Job) => status !== 'done').length).toBeGreaterThan(2)
  for (const { id } of open.body.data.jobs) await watchJob(busy.api, id)
  await expectInvariants(rig.databaseUrl)
})

describe('in the middle of a job', () => {
  const rigs: OwnRig[] = []

  // One gateway for each test; its third chunk sleeps for 4 s.
  beforeAll(async () => {
    const opening = [1, 2, 3].map(() => openOwnRig({ FAILPOINT: 'bulk.mid_chunk:3=sleep:4000' }))
    rigs.push(...(await Promise.all(opening)))
  })

  /** Starts a job of 2,500 ids on the next gateway and waits until its third chunk is under way. */
  async function begin(): Promise<{ rig: OwnRig; groupId: string; jobId: string }> {
    const rig = rigs.pop() as OwnRig
    const { api, account } = rig.tenant
    const groupId = await addGroup(rig.databaseUrl, account.workspaceId)
    const contactIds = await addContacts(rig.databaseUrl, account.workspaceId, 2_500)
    const { jobId } = (await api.post(`contacts/groups/${groupId}/members`, { contactIds })).body.data
    // The chunk has written its rows but has not committed.
    const inside = `select from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction' and query like '%insert into outbox%'`
    await until(async () => {
      const { processedCount } = (await api.get(`contacts/bulk-jobs/${jobId}`)).body.data
      return processedCount === 1_000 && (await sql(rig.databaseUrl).query(inside)).rowCount === 1
    })
    expect((await api.get(`contacts/bulk-jobs/${jobId}`)).body.data.status).toBe('processing')
    return { rig, groupId, jobId }
  }

  it('a cancellation counts the chunk under way and nothing after it', async () => {
    const { rig, groupId, jobId } = await begin()
    const { api } = rig.tenant
    // Another account gets 404 without waiting for the chunk, which is still under way.
    expect((await rig.stranger.api.post(`contacts/bulk-jobs/${jobId}/cancel`)).status).toBe(404)
    const { rows } = await sql(rig.databaseUrl).query('select "processedCount" as n from bulk_jobs where id = $1', [jobId])
    expect(rows).toEqual([{ n: 1_000 }])
    const { status, body } = await api.post(`contacts/bulk-jobs/${jobId}/cancel`)
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        data: {
          id: jobId,
          operation: 'add_to_group',
          status: 'cancelled',
          requestedCount: 2_500,
          processedCount: 1_500,
          progress: 60,
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

  it('the job fails with NOT_FOUND when its group is deleted', async () => {
    const { rig, groupId, jobId } = await begin()
    // The deletion waits for the chunk under way. So does this turn, without which the next chunk may lock the group before the deletion wakes up.
    await sqlTransaction(sql(rig.databaseUrl), async (tx) => {
      const deletion = sql(rig.databaseUrl).query('delete from contact_groups where id = $1', [groupId])
      await Promise.all([takeTurn(tx, jobId), deletion])
      expect((await deletion).rowCount).toBe(1)
    })
    const job = (await watchJob(rig.tenant.api, jobId)).at(-1)
    expect(job).toMatchObject({ status: 'failed', error: 'NOT_FOUND', groupId, processedCount: 1_500, completedAt: moment })
    const listed = (await rig.tenant.api.get('contacts/bulk-jobs')).body.data.jobs[0]
    expect(listed).toMatchObject({ id: jobId, status: 'failed', summary: { added: 1_500 } })
    await isOver(rig)
    await expectInvariants(rig.databaseUrl)
  })

  it('a stopping process hands its job back after the chunk', async () => {
    const { rig, groupId, jobId } = await begin()
    await rig.gateway.stop()
    const { rows } = await sql(rig.databaseUrl).query('select "processedCount" as n from bulk_jobs where id = $1', [jobId])
    expect(rows).toEqual([{ n: 1_500 }])
    // A stop does not count as one of its tries, of which a rolling restart would use up all.
    const tries = `select state::text, retry_count as n from pgboss.job where name = 'contact.bulk' and state < 'completed'`
    expect((await sql(rig.databaseUrl).query(tries)).rows).toEqual([{ state: 'created', n: 0 }])
    const heir = await openGateway({ databaseUrl: rig.databaseUrl })
    const job = (await watchJob(apiOf(heir, rig.tenant.account.apiKey), jobId)).at(-1)
    expect(job).toMatchObject({ status: 'done', summary: { added: 2_500, alreadyInGroup: 0, notFound: 0 } })
    expect(await membersOf(rig.databaseUrl, groupId)).toEqual({ rows: 2_500, counter: 2_500 })
    await expectInvariants(rig.databaseUrl)
  })
})

it('retries with smaller chunks when a chunk exceeds the statement timeout', async () => {
  const { databaseUrl, tenant } = await openOwnRig()
  // Stands for contacts with very many messages, each of which loses its contactId: more than 100 at a time take 11 s.
  await sql(databaseUrl).query(`
    create function take_time() returns trigger language plpgsql as $$ begin
      perform pg_sleep(case when count(*) > 100 then 11 else 0.5 end) from gone; return null; end $$;
    create trigger take_time after delete on contacts referencing old table as gone for each statement execute function take_time()`)
  const contactIds = await addContacts(databaseUrl, tenant.account.workspaceId, 400)
  const { jobId } = (await tenant.api.post('contacts/bulk-delete', { contactIds })).body.data
  const outcome = await watchJob(tenant.api, jobId, 60_000)
  expect(outcome.map(({ processedCount }) => processedCount)).toEqual([0, 100, 200, 300, 400])
  expect(outcome.at(-1)).toMatchObject({ status: 'done', summary: { deleted: 400, notFound: 0 } })
})

/** Waits until no bulk job is queued or running. */
async function isOver({ databaseUrl }: OwnRig): Promise<void> {
  const open = `select from pgboss.job where name = 'contact.bulk' and state < 'completed'`
  await until(async () => (await sql(databaseUrl).query(open)).rowCount === 0)
}
