// Campaigns of several accounts take turns: large audiences leave connections to the database to others, and many campaigns leave workers.
import { beforeAll, expect, it } from 'vitest'
import { advanceImplementation } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { newId } from '../../src/core/id.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'
import { newTenant, openOwnRig, type Rig } from '../rest-compat/rig.ts'
import { campaignTo, numbers } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openOwnRig()
})

/** How many connections wait for a lock on the members of groups. */
async function waiting(): Promise<number> {
  const { rows } = await sql(rig.databaseUrl).query<{ n: number }>(
    `select count(*)::int as n from pg_locks where not granted and relation = 'contact_group_members'::regclass`,
  )
  return rows[0]?.n ?? 0
}

it('previews of groups take five connections of a process, however many are asked for', async () => {
  const tenants = await Promise.all([1, 2, 3, 4, 5, 6].map(() => newTenant(rig.gateway, rig.databaseUrl)))
  const inputs = await Promise.all(
    tenants.map(async ({ api, instance }) => {
      const group = (await api.post('contacts/groups', { name: newId() })).body.data
      return { instanceId: instance.id, name: 'News', type: 'text', text: 'hello', groupIds: [group.id] }
    }),
  )
  const holder = await sql(rig.databaseUrl).connect()
  const asked: Promise<unknown>[] = []
  try {
    await holder.query('begin; lock table contact_group_members in access exclusive mode')
    const document = 'query ($input: CreateCampaignInput!) { previewCampaign(input: $input) { recipientsCount } }'
    for (const [i, { api }] of tenants.entries())
      for (let n = 0; n < 3; n++) asked.push(api.graphql(document, { input: inputs[i] }))
    await until(async () => (await waiting()) === 5)
    // These go through the same connections, behind the previews.
    for (let n = 0; n < 3; n++) expect((await rig.tenant.api.get('messages')).status).toBe(200)
    expect(await waiting()).toBe(5)
  } finally {
    await holder.query('rollback')
    holder.release()
    await Promise.all(asked)
  }
})

it('many campaigns of one account leave a worker to the campaign of another that comes later', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  for (let n = 0; n < 5; n++) await createCampaign(ctx, campaignTo(instanceId, numbers(1)))
  const other = await openWorkspace(databaseUrl)
  const { id } = await createCampaign(other.ctx, campaignTo(other.instanceId, numbers(1)))
  const { workers, perGroup } = advanceImplementation.work
  const fetched: string[] = []
  for (let n = 0; n < workers; n++) {
    for (const { data } of await app.boss.fetch<{ id: string }>('campaign.advance', { groupConcurrency: perGroup }))
      fetched.push(data.id)
  }
  expect(fetched.at(-1)).toBe(id)
})
