// The safety rules count each message of a campaign once, and none that was taken back or cancelled.
import { expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../src/campaigns/service.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { hold } from '../kit/fault.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { campaignTo, numbers } from './rig.ts'

it('judges a campaign that goes on after a pause in any process, or that follows a cancelled one, as at first', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const { id: instanceId } = await connectedInstance(databaseUrl, account, { ageDays: 0 })
  const app = await openApp(databaseUrl)
  const ctx = contextFor(app, account)
  const campaign = campaignTo(instanceId, numbers(6))
  const judgements = async (campaignId: string) => {
    await advance(app, campaignId, 50)
    const text = 'select "to", cold, warnings, safety from messages where "campaignId" = $1 order by "to"'
    return (await sql(databaseUrl).query(text, [campaignId])).rows
  }
  const { id } = await createCampaign(ctx, campaign)
  const first = await judgements(id)
  expect(first.map(({ cold }) => cold)).toEqual(Array(6).fill(true))
  expect(first.flatMap(({ warnings }) => warnings).join()).not.toContain('hourlyOutboundCap')
  for (const context of [ctx, contextFor(await openApp(databaseUrl), account)]) {
    await pauseCampaign(context, id)
    await resumeCampaign(context, id)
    expect(await judgements(id)).toEqual(first)
  }
  await cancelCampaign(ctx, id)
  const next = await createCampaign(ctx, campaign)
  expect(await judgements(next.id)).toEqual(first)
})

it('judges a page once that begins again because other messages took the quota', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl, { plan: 'free' })
  const { id: instanceId } = await connectedInstance(databaseUrl, account, { ageDays: 0 })
  const app = await openApp(databaseUrl)
  const { id } = await createCampaign(contextFor(app, account), campaignTo(instanceId, numbers(4)))
  const pool = sql(databaseUrl)
  /** Leaves quota for so many messages. */
  const leave = (n: number) => pool.query('update usage set "messagesCount" = 500 - $2 where "userId" = $1', [account.userId, n])
  await leave(4)
  const held = await hold(databaseUrl, 'insert', 'messages')
  const advanced = advance(app, id, 50)
  await held.waits()
  await leave(1)
  await held.release()
  await advanced
  const { rows } = await pool.query('select cold, warnings from messages where "campaignId" = $1', [id])
  const warnings = ['maxColdRatio exceeded: 100 % of the recipients of 24 hours never wrote to you; at most 20 % should']
  expect(rows).toEqual([{ cold: true, warnings }])
})
