// REST routes of bulk jobs and the contactIds that start them: validation, cancelling, idempotency and the list.
import { beforeAll, describe, expect, it } from 'vitest'
import { addContacts, addGroup, strangers, watchJob } from '../contacts/bulk-rig.ts'
import type { Api } from '../kit/api.ts'
import { expectRefusal, newTenant, nobody, openRig, type Rig, type Tenant } from './rig.ts'

let rig: Rig
let client: Api

beforeAll(async () => {
  rig = await openRig()
  client = rig.tenant.api
})

const group = () => addGroup(rig.databaseUrl, rig.tenant.account.workspaceId)

describe('contactIds', () => {
  const ways: [name: string, ask: (body: unknown) => Promise<Awaited<ReturnType<Api['post']>>>][] = [
    ['POST members', async (body) => await client.post(`contacts/groups/${await group()}/members`, body)],
    ['DELETE members', async (body) => await client.delete(`contacts/groups/${await group()}/members`, body)],
    ['POST bulk-delete', async (body) => await client.post('contacts/bulk-delete', body)],
  ]

  it.each(ways)('are validated with messages that name the field and the index, by %s', async (_, ask) => {
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
      [{ contactIds: strangers(10_001) }, 'contactIds: must have at most 10000 distinct ids'],
      [[nobody], 'body: must be a JSON object'],
    ]
    for (const [body, message] of bad) expectRefusal(await ask(body), 400, 'VALIDATION_ERROR', message)
  })

  it.each(ways)('may hold 10,000 distinct ids, each of them twice, by %s', async (_, ask) => {
    const ids = strangers(10_000)
    expect([200, 202]).toContain((await ask({ contactIds: [...ids, ...ids] })).status)
  })

  it('yield an error message of fewer than 5,000 characters, even for 200,000 invalid ids', async () => {
    const { status, body } = await client.post('contacts/bulk-delete', { contactIds: Array(200_000).fill(null) })
    expect([status, body.error.message.length < 5_000]).toEqual([400, true])
  })

  it('are refused with 413 when the body exceeds 1 MiB', async () => {
    const contactIds = Array(30_000).fill(nobody)
    expectRefusal(await client.post('contacts/bulk-delete', { contactIds }), 413, 'PAYLOAD_TOO_LARGE')
  })
})

describe('a job', () => {
  it('cannot be cancelled after it has ended', async () => {
    const { jobId } = (await client.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
    await watchJob(client, jobId)
    const outcome = 'The bulk job is done; only a job that has not ended can be cancelled'
    expectRefusal(await client.post(`contacts/bulk-jobs/${jobId}/cancel`), 409, 'INVALID_STATE', outcome)
  })

  it('of another account is not found', async () => {
    const { jobId } = (await client.post('contacts/bulk-delete', { contactIds: strangers(100) })).body.data
    for (const id of [jobId, nobody]) {
      for (const path of [`contacts/bulk-jobs/${id}`, `contacts/bulk-jobs/${id}/progress`]) {
        expectRefusal(await rig.stranger.api.get(path), 404, 'NOT_FOUND', 'Bulk job not found')
      }
      expectRefusal(await rig.stranger.api.post(`contacts/bulk-jobs/${id}/cancel`), 404, 'NOT_FOUND', 'Bulk job not found')
    }
    expectRefusal(await client.get('contacts/bulk-jobs/5'), 400, 'VALIDATION_ERROR', 'jobId: must be a UUID')
  })

  it('is created once for one Idempotency-Key, and the repeat gets the same body', async () => {
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

  it('is paged newest first, with the id of the last job as the cursor', async () => {
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { status, body } = await tenant.api.get(`contacts/bulk-jobs?limit=3${cursor && `&cursor=${cursor}`}`)
      expect([status, Object.keys(body.data)]).toEqual([200, ['jobs', 'nextCursor', 'hasMore']])
      seen.push(...body.data.jobs.map((job: { id: string }) => job.id))
      expect(body.data.nextCursor).toBe(body.data.hasMore ? seen.at(-1) : null)
      if (!body.data.hasMore) break
      cursor = body.data.nextCursor
      // A job created during paging must neither appear nor disturb the pages.
      await tenant.api.post('contacts/bulk-delete', { contactIds: strangers(100) })
    }
    expect(seen).toEqual(jobIds)
  })

  it('omits the error of a job, and omits groupId for a job without a group', async () => {
    const { body } = await tenant.api.get('contacts/bulk-jobs')
    for (const job of body.data.jobs) expect(Object.keys(job)).not.toEqual(expect.arrayContaining(['error']))
    for (const job of body.data.jobs) expect(Object.keys(job)).not.toEqual(expect.arrayContaining(['groupId']))
  })

  it.each([
    ['limit=0', /^limit: /],
    ['limit=101', /^limit: /],
    ['limit=x', /^limit: /],
    ['cursor=x', /^cursor: must be a UUID$/],
    [`cursor=${nobody}`, /^cursor: is not a job of this list$/],
  ])('is refused with %s', async (query, message) => {
    expectRefusal(await tenant.api.get(`contacts/bulk-jobs?${query}`), 400, 'VALIDATION_ERROR', message)
  })

  it('accepts no job of another account as a cursor', async () => {
    const answer = await rig.stranger.api.get(`contacts/bulk-jobs?cursor=${jobIds[0]}`)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'cursor: is not a job of this list')
    expect((await rig.stranger.api.get('contacts/bulk-jobs')).body.data).toEqual({ jobs: [], nextCursor: null, hasMore: false })
  })
})
