// Pausing and cancelling at a bad moment: messages that the network returned unsent are not sent later, and each has one id and one end.
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { advance, advanceImplementation } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../src/campaigns/service.ts'
import { statsOf } from '../../src/campaigns/stats.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { eraseImplementation } from '../../src/messages/erase/erase.ts'
import { safetyCache } from '../../src/messages/safety/safety.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { createSuppression } from '../../src/suppressions/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'
import { campaignTo, countersIn, messagesIn, numbers } from './rig.ts'

let databaseUrl: string
let app: App
let ctx: Context
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

beforeEach(async () => {
  ;({ app, ctx, instanceId } = await openWorkspace(databaseUrl))
})

const countersOf = (id: string) => countersIn(ctx, id)
const messagesOf = (id: string) => messagesIn(databaseUrl, id)

/** Reads the events of the campaign's messages: the recipient and the statuses of each, in order. */
async function told(campaignId: string): Promise<Map<string, { to: string; statuses: string[] }>> {
  const { rows } = await sql(databaseUrl).query<{ payload: { messageId: string; to: string; status: string } }>(
    `select payload from outbox where "campaignId" = $1 and type like 'message.%' order by id`,
    [campaignId],
  )
  const byMessage = Map.groupBy(rows, ({ payload }) => payload.messageId)
  const entries = [...byMessage].map(([id, events]): [string, { to: string; statuses: string[] }] => [
    id,
    { to: events[0]?.payload.to as string, statuses: events.map(({ payload }) => payload.status) },
  ])
  return new Map(entries)
}

/** Offers messages to the network once, with one outcome for all of them. */
async function offer(ids: readonly string[], outcome: SendOutcome): Promise<number> {
  const { claimed } = await claimMessages(app, ids)
  await Promise.all(claimed.map((message) => settlement(app)({ message, outcome })))
  return claimed.length
}

async function setLeases(ids: readonly string[], over: string): Promise<void> {
  await sql(databaseUrl).query(`update messages set ${over} = now() - interval '1 second' where id = any($1)`, [ids])
}

const lost: SendOutcome = { outcome: 'retry', error: 'CONNECTION_LOST', afterMs: 60_000 }

async function usedQuota(): Promise<number> {
  const { rows } = await sql(databaseUrl).query('select "messagesCount" as n from usage where "userId" = $1', [
    ctx.principal.userId,
  ])
  return rows[0].n
}

/** A campaign to five: the network returned three of them for a retry, and two are still queued. */
async function fiveWithThreeBack(): Promise<{ id: string; back: string[] }> {
  const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(5)))
  await advance(app, id, 50)
  const back = (await messagesOf(id)).slice(0, 3)
  expect(await offer(back, lost)).toBe(3)
  return { id, back }
}

it('tells no time of the last messages of a campaign that has created none, because all its numbers are suppressed by then', async () => {
  const to = numbers(2)
  const { id } = await createCampaign(ctx, campaignTo(instanceId, to))
  for (const phone of to) await createSuppression(ctx, { phone })
  expect(await advance(app, id, 50)).toBe(true)
  const { status, stats, timeline } = await statsOf({ ...ctx }, id)
  expect([status, stats.cancelled, timeline.lastEnqueuedAt]).toEqual(['running', 2, null])
  expect(timeline.processingStartedAt).not.toBeNull()
})

it('returns unsent messages to planned with their quota on pause, and queues them again on resume', async () => {
  const { id, back } = await fiveWithThreeBack()
  await pauseCampaign(ctx, id)
  expect(await countersOf(id)).toMatchObject({ planned: 5, queued: 0 })
  expect(await usedQuota()).toBe(0)
  expect(await offer(back, { outcome: 'accepted', providerMessageId: 'x' })).toBe(0)
  await resumeCampaign(ctx, id)
  await advance(app, id, 50)
  expect(await countersOf(id)).toMatchObject({ planned: 0, queued: 5 })
  expect(await usedQuota()).toBe(5)
})

it('gives a recipient the same message again after a pause, with one event for each of its statuses', async () => {
  const { id } = await fiveWithThreeBack()
  const ids = await messagesOf(id)
  await pauseCampaign(ctx, id)
  await resumeCampaign(ctx, id)
  await advance(app, id, 2)
  expect(ids).toEqual(expect.arrayContaining(await messagesOf(id)))
  await pauseCampaign(ctx, id)
  await cancelCampaign(ctx, id)
  const events = await told(id)
  expect([...events.keys()].sort()).toEqual(ids)
  for (const { statuses } of events.values()) expect(statuses).toEqual(['queued', 'cancelled'])
})

it('tells the end of messages that were taken back and cannot come back', async () => {
  const { id } = await fiveWithThreeBack()
  await pauseCampaign(ctx, id)
  const [phone, ...others] = numbers(5) as [string, ...string[]]
  await createSuppression(ctx, { phone })
  await resumeCampaign(ctx, id)
  await advance(app, id, 1)
  await sql(databaseUrl).query('update instances set "deletedAt" = now() where id = $1', [instanceId])
  await advance(app, id, 50)
  expect(await countersOf(id)).toMatchObject({ cancelled: 1, failed: 4, planned: 0, queued: 0 })
  expect([...(await told(id)).values()]).toEqual([
    { to: phone, statuses: ['queued', 'cancelled'] },
    ...others.map((to) => ({ to, statuses: ['queued', 'failed'] })),
  ])
})

it('erases what the event log says of a message that was taken back, with the other messages of that number', async () => {
  const { id } = await fiveWithThreeBack()
  await pauseCampaign(ctx, id)
  const [phone, ...others] = numbers(5)
  const { workspaceId } = ctx.principal
  const erased = { workspaceId, phone: phone as string, before: new Date().toISOString() }
  expect(await eraseImplementation.run(app, [erased])).toEqual([undefined])
  expect([...(await told(id)).values()].map(({ to }) => to)).toEqual(['', ...others])
  await resumeCampaign(ctx, id)
  await advance(app, id, 50)
  expect(await countersOf(id)).toMatchObject({ planned: 0, queued: 4, cancelled: 1 })
})

it('leaves no job for a returned message that waits for its instance when the campaign is paused', async () => {
  const { id, back } = await fiveWithThreeBack()
  await sql(databaseUrl).query(`update instances set status = 'disconnected' where id = $1`, [instanceId])
  await setLeases(back, '"nextAttemptAt"')
  expect(await offer(back, lost)).toBe(0)
  await pauseCampaign(ctx, id)
  expect(await messagesOf(id)).toEqual([])
  const { rows } = await sql(databaseUrl).query('select from pgboss.job where id = any($1)', [back])
  expect(rows).toEqual([])
})

it('cancels the recipients of returned messages when the campaign is cancelled', async () => {
  const { id, back } = await fiveWithThreeBack()
  await cancelCampaign(ctx, id)
  expect(await countersOf(id)).toMatchObject({ cancelled: 5, queued: 0 })
  expect(await usedQuota()).toBe(0)
  expect(await offer(back, { outcome: 'accepted', providerMessageId: 'x' })).toBe(0)
})

it('takes back messages that the network returned twice', async () => {
  const { id, back } = await fiveWithThreeBack()
  await setLeases(back, '"nextAttemptAt"')
  expect(await offer(back, lost)).toBe(3)
  await pauseCampaign(ctx, id)
  expect(await countersOf(id)).toMatchObject({ planned: 5, queued: 0 })
})

it('does not take back a message that may have been sent, even if the network refused it afterwards', async () => {
  const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(2)))
  await advance(app, id, 50)
  const ids = await messagesOf(id)
  expect(await offer(ids, { outcome: 'unknown', error: 'ANSWER_LOST' })).toBe(2)
  await pauseCampaign(ctx, id)
  expect(await messagesOf(id)).toEqual(ids)
  await setLeases(ids, '"leaseUntil"')
  expect(await offer(ids, lost)).toBe(2)
  await resumeCampaign(ctx, id)
  await pauseCampaign(ctx, id)
  expect(await messagesOf(id)).toEqual(ids)
  expect(await countersOf(id)).toMatchObject({ queued: 2, planned: 0 })
})

it('pauses without waiting for the traffic of the instance to be read', async () => {
  const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(5)))
  const reading = Promise.withResolvers<void>()
  const read = Promise.withResolvers<void>()
  const safety = safetyCache(app)
  const slow: typeof safety = {
    ...safety,
    async load(pairs) {
      reading.resolve()
      await read.promise
      await safety.load(pairs)
    },
  }
  const slowApp = { ...app }
  safetyCache.replace(slowApp, slow)
  const turn = advanceImplementation.run(slowApp, [{ id }])
  await reading.promise
  await pauseCampaign(ctx, id).finally(read.resolve)
  await turn
  expect(await countersOf(id)).toMatchObject({ planned: 5 })
})
