// The course of a campaign in parts of its time, and the reasons of its failures: counts that agree with its statistics.
import { beforeAll, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openRig, type Rig, uuid } from '../rest-compat/rig.ts'
import { campaignTo, expectCreated, numbers, reach, statsOf } from './rig.ts'

let rig: Rig
let id: string

const document = `query ($id: ID!, $buckets: Int) { campaign(id: $id) {
  progress(buckets: $buckets) { from to queued sent delivered read failed cancelled }
  failures { status error errorCode count detail messageId } } }`

interface Bucket {
  from: string
  to: string
  queued: number
  sent: number
  delivered: number
  read: number
  failed: number
  cancelled: number
}

async function course(buckets?: number): Promise<{ progress: Bucket[]; failures: Record<string, unknown>[] }> {
  const { body } = await rig.tenant.api.graphql(document, { id, ...(buckets && { buckets }) })
  expect(body.errors).toBeUndefined()
  return body.data.campaign
}

const sum = (progress: readonly Bucket[], name: Exclude<keyof Bucket, 'from' | 'to'>) =>
  progress.reduce((total, bucket) => total + bucket[name], 0)

beforeAll(async () => {
  rig = await openRig()
  const { api, instance } = rig.tenant
  const template = (await api.post('templates', { name: newId(), type: 'text', body: 'Code {{custom.code}}' })).body.data
  const [suppressed = '', ...to] = numbers(8)
  await api.post('suppressions', { phone: suppressed })
  // The first is in the do-not-contact list, and the second has no value for the template.
  const recipients = [{ to: suppressed }, ...to.map((number, i) => ({ to: number, ...(i > 0 && { variables: { code: 'x' } }) }))]
  id = expectCreated(
    await api.post(
      'campaigns',
      campaignTo(instance.id, [], { type: undefined, text: undefined, templateId: template.id, recipients }),
    ),
  )
  await reach(api, id, 'completed')
  await until(async () => (await statsOf(api, id)).stats.read === 6)
  const fail = `update messages set status = 'failed', error = '131026', "errorDetail" = $3, "failedAt" = now(), "readAt" = null, "updatedAt" = now()
    where "campaignId" = $1 and "to" = $2`
  await sql(rig.databaseUrl).query(fail, [id, to[1], 'Undeliverable'])
  await sql(rig.databaseUrl).query(fail, [id, to[2], null])
})

it('counts each step of each recipient in the part of the time in which it happened', async () => {
  const { stats, timeline } = await statsOf(rig.tenant.api, id)
  for (const count of [1, 7, 200]) {
    const { progress } = await course(count)
    expect(progress).toHaveLength(count)
    expect(progress[0]?.from).toBe(timeline.processingStartedAt)
    for (const [i, bucket] of progress.slice(1).entries()) expect(bucket.from).toBe(progress[i]?.to)
    expect(Date.parse(progress.at(-1)?.to ?? '')).toBeGreaterThanOrEqual(Date.parse(timeline.completedAt ?? ''))
    expect([sum(progress, 'queued'), sum(progress, 'sent'), sum(progress, 'delivered')]).toEqual([6, 6, 6])
    expect([sum(progress, 'read'), sum(progress, 'failed'), sum(progress, 'cancelled')]).toEqual([
      stats.read,
      stats.failed,
      stats.cancelled,
    ])
  }
})

it('groups the failures by their reason, with an example', async () => {
  const { failures } = await course()
  expect(failures).toEqual([
    { status: 'failed', error: '131026', errorCode: 'PROVIDER_ERROR', count: 2, detail: 'Undeliverable', messageId: uuid },
    {
      status: 'cancelled',
      error: 'RECIPIENT_SUPPRESSED',
      errorCode: 'RECIPIENT_SUPPRESSED',
      count: 1,
      detail: null,
      messageId: null,
    },
    { status: 'failed', error: 'TEMPLATE_INVALID', errorCode: 'TEMPLATE_INVALID', count: 1, detail: null, messageId: null },
  ])
})

it('has 60 parts by default, and 1 to 200', async () => {
  expect((await course()).progress).toHaveLength(60)
  for (const buckets of [0, 201]) {
    const { body } = await rig.tenant.api.graphql(document, { id, buckets })
    expect(body.errors[0]).toMatchObject({
      message: expect.stringMatching(/^buckets: must be /),
      extensions: { code: 'VALIDATION_ERROR' },
    })
  }
})

it('keeps the last status of recipients whose messages were deleted', async () => {
  await sql(rig.databaseUrl).query(
    `with gone as (delete from messages where "campaignId" = $1 and status = 'read' returning id)
     update campaign_recipients r set status = 'read', "messageId" = null, "updatedAt" = now() from gone where r."campaignId" = $1 and r."messageId" = gone.id`,
    [id],
  )
  const { progress } = await course(3)
  expect([sum(progress, 'queued'), sum(progress, 'read'), sum(progress, 'failed')]).toEqual([2, 4, 3])
})

const list = `query ($id: ID!, $status: CampaignRecipientStatus, $error: String) { campaign(id: $id) {
  recipients(first: 1, status: $status, error: $error) { totalCount nodes { to status error } pageInfo { hasNextPage endCursor } } } }`
const ask = async (variables: object) => (await rig.tenant.api.graphql(list, { id, ...variables })).body

it('leads from a reason to its recipients', async () => {
  const failed = (await ask({ status: 'failed', error: '131026' })).data.campaign.recipients
  expect(failed).toMatchObject({ totalCount: 2, nodes: [{ status: 'failed', error: '131026' }], pageInfo: { hasNextPage: true } })
  const missing = (await ask({ status: 'failed', error: 'TEMPLATE_INVALID' })).data.campaign.recipients
  expect(missing).toMatchObject({ totalCount: 1, nodes: [{ error: 'TEMPLATE_INVALID' }], pageInfo: { hasNextPage: false } })
  expect((await ask({ status: 'failed', error: 'EXPIRED' })).data.campaign.recipients).toMatchObject({ totalCount: 0, nodes: [] })
  expect((await ask({ status: 'read', error: 'EXPIRED' })).errors[0].message).toBe(
    'error: is only for the status failed or cancelled',
  )
})

it('counts the recipients of a reason that is not among those listed', async () => {
  await sql(rig.databaseUrl).query(
    `insert into campaign_recipients ("campaignId", position, "to", status, error)
     select $1::uuid, 100 + i, '+39333' || i, 'failed', case i when 0 then 'rare' else 'reason ' || i % 50 end from generate_series(0, 100) i`,
    [id],
  )
  expect((await course()).failures).not.toContainEqual(expect.objectContaining({ error: 'rare' }))
  const rare = (await ask({ status: 'failed', error: 'rare' })).data.campaign.recipients
  expect(rare).toMatchObject({ totalCount: 1, nodes: [{ to: '+393330', error: 'rare' }] })
})
