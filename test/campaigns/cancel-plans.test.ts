// Cancelling a campaign takes time in proportion to its recipients, whatever the statistics of the database know.
import type pg from 'pg'
import { expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import { setEnded } from '../../src/campaigns/planned.sql.ts'
import { cancelCampaign } from '../../src/campaigns/service.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'
import { campaignTo, numbers } from './rig.ts'

it('compares no recipients with each other when the campaign is newer than the statistics', async () => {
  const { app, ctx, instanceId } = await openWorkspace(await cloneDatabase())
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const create = async () => (await createCampaign(ctx, campaignTo(instanceId, numbers(2_000), { scheduledAt }))).id
  await app.pool.query('alter table campaign_recipients set (autovacuum_enabled = off)')
  for (let earlier = 0; earlier < 2; earlier++) await cancelCampaign(ctx, await create())
  await app.pool.query('analyze campaign_recipients')
  const id = await create()
  let asked: pg.QueryConfig | undefined
  const query = async (text: string, values: unknown[]) => {
    asked = { text: `explain (analyze, costs off) ${text}`, values }
    return { rows: [] }
  }
  await setEnded({ query } as unknown as Sql, id, { status: 'cancelled', error: null }, null)
  const { rows } = await app.pool.query<{ 'QUERY PLAN': string }>(asked as pg.QueryConfig)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  expect(plan).toMatch(/Update on campaign_recipients[\s\S]*rows=2000/)
  expect(plan).not.toContain('Rows Removed by Join Filter')
})
