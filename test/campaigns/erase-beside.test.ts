// Messages of a campaign are erased, or expire, while the campaign is paused: there is no deadlock, and no data of the number stays.
import { beforeEach, expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { lockCampaign } from '../../src/campaigns/campaigns.sql.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { pauseCampaign } from '../../src/campaigns/service.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { eraseImplementation } from '../../src/messages/erase/erase.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { openWorkspace, sweepExpired } from '../messages/rig.ts'
import { campaignTo, countersIn, messagesIn, numbers } from './rig.ts'

const [erased, other] = numbers(2) as [string, string]
let databaseUrl: string
let app: App
let ctx: Context
let id: string

/** A campaign with a queued message to each of two numbers. */
beforeEach(async () => {
  databaseUrl = await cloneDatabase()
  const workspace = await openWorkspace(databaseUrl)
  app = workspace.app
  ctx = workspace.ctx
  id = (await createCampaign(ctx, campaignTo(workspace.instanceId, [erased, other]))).id
  await advance(app, id, 50)
})

const erase = () =>
  eraseImplementation.run(app, [{ workspaceId: ctx.principal.workspaceId, phone: erased, before: new Date().toISOString() }])

const expire = async () => {
  await sql(databaseUrl).query(`update messages set status = 'read', "createdAt" = now() - interval '3 days'`)
  await sql(databaseUrl).query(`insert into retention_settings ("workspaceId", "messagesDays") values ($1, 1)`, [
    ctx.principal.workspaceId,
  ])
  await sweepExpired(app)
}

async function waiting(): Promise<boolean> {
  const text = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return (await sql(databaseUrl).query(text)).rowCount === 1
}

it.each([
  ['an erasure', erase],
  ['the end of their retention', expire],
])('%s that waits for a campaign holds none of its messages', async (_, remove) => {
  const { removing } = await sqlTransaction(app.pool, async (tx) => {
    await lockCampaign(tx, ctx.principal.workspaceId, id)
    const removing = remove()
    await until(waiting)
    await tx.query('select from messages where "campaignId" = $1 for update nowait', [id])
    return { removing }
  })
  await removing
  expect(await messagesIn(databaseUrl, id)).toHaveLength(remove === erase ? 1 : 0)
})

it('an erasure ends the recipient whose message a pause takes back meanwhile, and empties what the event log says of it', async () => {
  const usage = 'select from usage where "userId" = $1 for update'
  const [, outcome] = await whileHeld<unknown>(databaseUrl, [usage, ctx.principal.userId], [() => pauseCampaign(ctx, id), erase])
  expect(outcome).toEqual([undefined])
  expect(await countersIn(ctx, id)).toMatchObject({ planned: 1, queued: 0, cancelled: 1 })
  const { rows } = await sql(databaseUrl).query<{ to: string }>(
    `select payload->>'to' as to from outbox where "campaignId" = $1 and type like 'message.%' order by id`,
    [id],
  )
  expect(rows.map(({ to }) => to)).toEqual(['', other])
})
