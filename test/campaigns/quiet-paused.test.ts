// Quiet hours of a campaign that has paused itself, for want of quota, while messages of it are queued.
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { sweepImplementation } from '../../src/campaigns/sweep.ts'
import { updateCampaign } from '../../src/campaigns/update.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { campaignTo, countersIn, messagesIn, numbers } from './rig.ts'

let databaseUrl: string
let app: App
let ctx: Context
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

/** The quota is left for two messages. */
beforeEach(async () => {
  const account = await createAccount(databaseUrl, { plan: 'free' })
  instanceId = (await connectedInstance(databaseUrl, account)).id
  app = await openApp(databaseUrl)
  ctx = contextFor(app, account, 'free')
  await sql(databaseUrl).query(
    `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc'), 498)
     on conflict ("userId", period) do update set "messagesCount" = 498`,
    [account.userId],
  )
})

/** Quiet hours that begin and end so many hours from now. */
function hours(from: number, to: number) {
  const utc = (inHours: number) => new Date(Date.now() + inHours * 3_600_000).toISOString().slice(11, 16)
  return { from: utc(from), to: utc(to), timeZone: 'UTC' }
}

async function loseJob(id: string): Promise<void> {
  await sql(databaseUrl).query(`delete from pgboss.job where name = 'campaign.advance' and data->>'id' = $1`, [id])
}

/** A campaign to three that has paused itself with two queued messages, and has made its last step. */
async function pausedItself(fields: Record<string, unknown> = {}): Promise<string> {
  const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(3), fields))
  // Its steps are made here, so a job of it is due only if a step asks for it.
  await loseJob(id)
  while (await advance(app, id, 50));
  expect(await countersIn(ctx, id)).toMatchObject({ planned: 1, queued: 2 })
  expect((await app.db.campaign.findUniqueOrThrow({ where: { id } })).status).toBe('paused')
  return id
}

/** The times of the steps to come, as HH:MM in UTC. */
async function steps(id: string): Promise<string[]> {
  const { rows } = await sql(databaseUrl).query<{ at: Date }>(
    `select start_after as at from pgboss.job where name = 'campaign.advance' and data->>'id' = $1 and state < 'active'`,
    [id],
  )
  return rows.map(({ at }) => at.toISOString().slice(11, 16))
}

it('bring a step when they begin', async () => {
  const quietHours = hours(2, 6)
  expect(await steps(await pausedItself({ quietHours }))).toEqual([quietHours.from])
})

it('bring no step where there are none', async () => {
  const id = await pausedItself()
  await sweepImplementation.run(app, [{}])
  expect(await steps(id)).toEqual([])
})

it('bring a step when they begin after the job of the campaign was lost', async () => {
  const quietHours = hours(2, 6)
  const id = await pausedItself({ quietHours })
  await loseJob(id)
  await sweepImplementation.run(app, [{}])
  expect(await steps(id)).toHaveLength(1)
  expect(await advance(app, id, 50)).toBe(false)
  expect(await steps(id)).toEqual([quietHours.from])
})

it('let nothing leave that was queued before, and leave it planned', async () => {
  const id = await pausedItself()
  const queued = await messagesIn(databaseUrl, id)
  await updateCampaign(ctx, id, { quietHours: hours(-1, 6) })
  expect(await steps(id)).toHaveLength(1)
  expect(await advance(app, id, 50)).toBe(false)
  expect((await claimMessages(app, queued)).claimed).toEqual([])
  expect(await countersIn(ctx, id)).toMatchObject({ planned: 3, queued: 0 })
})
