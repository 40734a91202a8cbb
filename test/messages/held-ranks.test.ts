// Held messages leave by their rank, and expire by their age, whatever their rank.
import { expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import { readHeld, readKey, readOverdue } from '../../src/messages/dispatch/holds.sql.ts'
import { campaignTo, numbers } from '../campaigns/rig.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openWorkspace } from './rig.ts'

it('instant messages leave first, then scheduled ones, and those of campaigns last, but the oldest of all expires first', async () => {
  const { app, ctx, instanceId } = await openWorkspace(await cloneDatabase())
  const { workspaceId, userId } = ctx.principal
  const { id: campaignId } = await createCampaign(ctx, campaignTo(instanceId, numbers(1)))
  const { rows } = await app.pool.query<{ id: string }>(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, "waitingSince", "heldBy", "campaignId", "scheduledAt",
       "dueAt")
     select gen_random_uuid(), $1, $2, $3, 'text', '+39' || n, '+39' || n, '', '{}', now(), 'key', case n when 0 then $4::uuid end, case n when 1 then now() end,
       now() - interval '1 minute' * (9 - n) from generate_series(0, 2) n returning id`,
    [workspaceId, userId, instanceId, campaignId],
  )
  const [ofCampaign, scheduled, instant] = rows.map(({ id }) => id)
  expect(await readHeld(app.pool, 'key', 10)).toEqual([instant, scheduled, ofCampaign])
  expect(await readHeld(app.pool, 'key', 1)).toEqual([instant])
  expect(await readOverdue(app.pool, 'key', 0, 10)).toEqual([ofCampaign, scheduled, instant])
  expect(await readOverdue(app.pool, 'key', 8.5 * 60_000, 10)).toEqual([ofCampaign])
  const { oldest, now } = await readKey(app.pool, 'key')
  expect(now.getTime() - (oldest?.getTime() ?? 0)).toBeGreaterThanOrEqual(9 * 60_000)
})
