// A campaign that stops, or a contact that is deleted, while the network has messages: what it then gives back does not leave.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { cancelCampaign, pauseCampaign, resumeCampaign } from '../../src/campaigns/service.ts'
import { updateCampaign } from '../../src/campaigns/update.ts'
import { createContact, deleteContact } from '../../src/contacts/service.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
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

/** Claims the messages for another attempt, although its time has not come. Returns how many leave. */
async function offer(ids: readonly string[], meanwhile: () => Promise<unknown> = async () => {}): Promise<number> {
  await sql(databaseUrl).query('update messages set "nextAttemptAt" = null where id = any($1)', [ids])
  const { claimed } = await claimMessages(app, ids)
  await meanwhile()
  await Promise.all(claimed.map((message) => settlement(app)({ message, outcome: busy })))
  return claimed.length
}

const busy: SendOutcome = { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE', afterMs: 60_000 }

/** A campaign to three that is stopped during that attempt of its messages, all of which the network gives back. */
async function stopDuring(
  attempt: number,
  stop: (id: string) => Promise<unknown>,
  audience: Record<string, unknown> = {},
): Promise<{ id: string; back: string[] }> {
  const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(3), audience))
  await advance(app, id, 50)
  const back = await messagesOf(id)
  for (let earlier = 1; earlier < attempt; earlier++) expect(await offer(back)).toBe(3)
  expect(await offer(back, () => stop(id))).toBe(3)
  return { id, back }
}

/** True if a step of the campaign is due. */
async function isDue(id: string): Promise<boolean> {
  const text = `select from pgboss.job where name = 'campaign.advance' and data->>'id' = $1 and state < 'active' and start_after <= now()`
  return (await sql(databaseUrl).query(text, [id])).rowCount === 1
}

describe.each([1, 2])('messages that the network gives back after attempt %i', (attempt) => {
  it('wait for the resume of their campaign, if that was paused meanwhile', async () => {
    const { id, back } = await stopDuring(attempt, (id) => pauseCampaign(ctx, id))
    expect(await offer(back)).toBe(0)
    expect(await isDue(id)).toBe(true)
    expect(await advance(app, id, 50)).toBe(false)
    expect(await countersOf(id)).toMatchObject({ planned: 3, queued: 0 })
    await resumeCampaign(ctx, id)
    await advance(app, id, 50)
    expect(await offer(back)).toBe(3)
  })

  it('end with their campaign, if that was cancelled meanwhile', async () => {
    const { id, back } = await stopDuring(attempt, (id) => cancelCampaign(ctx, id))
    expect(await countersOf(id)).toMatchObject({ cancelled: 0, queued: 3 })
    expect(await offer(back)).toBe(0)
    expect(await isDue(id)).toBe(true)
    await advance(app, id, 50)
    expect(await countersOf(id)).toMatchObject({ cancelled: 3, queued: 0 })
  })

  it('are planned again, if the quiet hours of their campaign have begun meanwhile', async () => {
    const utc = (inHours: number) => new Date(Date.now() + inHours * 3_600_000).toISOString().slice(11, 16)
    const { id, back } = await stopDuring(attempt, (id) =>
      updateCampaign(ctx, id, { quietHours: { from: utc(-1), to: utc(6), timeZone: 'UTC' } }),
    )
    expect(await offer(back)).toBe(0)
    await advance(app, id, 50)
    expect(await countersOf(id)).toMatchObject({ planned: 3, queued: 0 })
  })
})

it('messages that the network gives back after their contact was deleted are cancelled', async () => {
  const to = numbers(3)
  const contactIds: string[] = []
  for (const phone of to) contactIds.push((await createContact(ctx, { name: 'Zoe', phone })).id)
  const { id, back } = await stopDuring(1, () => deleteContact(ctx, contactIds[1] as string), { recipients: [], contactIds })
  expect(await countersOf(id)).toMatchObject({ queued: 2, cancelled: 1 })
  expect(await offer(back)).toBe(2)
  const { rows } = await sql(databaseUrl).query(
    `select m."to", m.status, m.error, (select "messagesCount" from usage where "userId" = $2) as used
     from messages m where "campaignId" = $1 and status = 'cancelled'`,
    [id, ctx.principal.userId],
  )
  expect(rows).toEqual([{ to: to[1], status: 'cancelled', error: 'CONTACT_DELETED', used: 2 }])
})
