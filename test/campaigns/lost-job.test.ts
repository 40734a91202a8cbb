// The sweep gives a campaign that has something to do a job again, and no other one, and costs little beside very many recipients.
import { expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { pauseCampaign } from '../../src/campaigns/service.ts'
import { readWithoutJob } from '../../src/campaigns/sweep.sql.ts'
import { sweepImplementation } from '../../src/campaigns/sweep.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { openWorkspace } from '../messages/rig.ts'
import { campaignTo, messagesIn, numbers } from './rig.ts'

it('a campaign that is running, or was paused when its last message was with the network, goes on after its job was lost', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const create = async (to: string[]) => (await createCampaign({ ...ctx }, campaignTo(instanceId, to))).id
  const [first, second, ...others] = numbers(4) as [string, string, ...string[]]
  const [running, last, planned] = [await create([first]), await create([second]), await create(others)]
  for (const id of [last, planned]) {
    await advance(app, id, 1)
    expect((await claimMessages(app, await messagesIn(databaseUrl, id))).claimed).toHaveLength(1)
    await pauseCampaign({ ...ctx }, id)
  }
  const pool = sql(databaseUrl)
  await pool.query(`delete from pgboss.job where name = 'campaign.advance'`)
  await sweepImplementation.run(app, [{}])
  const { rows } = await pool.query(`select data->>'id' as id from pgboss.job where name = 'campaign.advance' order by 1`)
  expect(rows.map(({ id }) => id)).toEqual([running, last])
})

it('reads few of 40,000 recipients of 200 paused campaigns', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const pool = sql(databaseUrl)
  await pool.query(
    `with made as (
       insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, body, status, error, "quietHours", "recipientsCount")
       select gen_random_uuid(), $1, $2, $3, 'News', 'text', 'hello', 'paused', 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED', '{}', 200 from generate_series(1, 200)
       returning id
     ) insert into campaign_recipients ("campaignId", position, "to") select id, n, '+39333' || n from made, generate_series(1, 200) n`,
    [ctx.principal.workspaceId, ctx.principal.userId, instanceId],
  )
  await pool.query('vacuum analyze campaigns, campaign_recipients, messages, pgboss.job_common')
  const statements: { text: string; values?: unknown[] }[] = []
  await readWithoutJob({
    query: async (text: string, values?: unknown[]) => statements.push({ text, values }) && { rows: [] },
  } as unknown as Sql)
  expect(await rowsRead(app.pool, statements)).toBeLessThan(2_000)
})
