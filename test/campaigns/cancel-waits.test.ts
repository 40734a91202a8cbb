// The cancellation of a campaign holds up no other message and no worker, however many recipients it has.
import { expect, it, vi } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { cancelCampaign } from '../../src/campaigns/service.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { sendMessage } from '../../src/messages/service.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'
import { campaignTo, countersIn, messagesIn, numbers } from './rig.ts'

it('accepts and claims messages, and advances campaigns, while the planned recipients of a campaign are being cancelled', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { id } = await createCampaign({ ...ctx, idempotency: null }, campaignTo(instanceId, numbers(5)))
  await advance(app, id, 2)
  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query(`select from campaign_recipients where "campaignId" = $1 and status = 'planned' for update`, [id])
  const cancelled = cancelCampaign({ ...ctx }, id)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await pool.query(waiting)).rowCount === 1)

  const message = { instanceId, to: '+4915112345678', type: 'text', text: 'hello' } as const
  await expect(sendMessage({ ...ctx }, message)).resolves.toMatchObject({ status: 'queued' })
  const [first = ''] = await messagesIn(databaseUrl, id)
  await expect(claimMessages(app, [first])).resolves.toMatchObject({ claimed: [{ id: first }] })
  // No worker waits with it, which campaigns of others need.
  await pool.query(`delete from pgboss.job where name = 'campaign.advance'`)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
  try {
    await expect(advance(app, id, 2)).resolves.toBe(false)
  } finally {
    vi.useRealTimers()
  }
  // Soon by the clock of the database, whatever that of the process says.
  const looksAgain = `select from pgboss.job where name = 'campaign.advance' and data->>'id' = $1 and start_after < now() + interval '1 minute'`
  expect((await pool.query(looksAgain, [id])).rowCount).toBe(1)
  expect((await pool.query(waiting)).rowCount).toBe(1)

  await holder.query('rollback')
  holder.release()
  await cancelled
  expect(await countersIn(ctx, id)).toMatchObject({ planned: 0, queued: 1, cancelled: 4 })
})

it('a cancellation locks the messages of a campaign in the order of their ids, as a claim does, and then the quota', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { id } = await createCampaign({ ...ctx }, campaignTo(instanceId, numbers(2)))
  await advance(app, id, 50)
  const [first = '', second = ''] = await messagesIn(databaseUrl, id)
  const { claimed } = await claimMessages(app, [first])
  const outcome = { outcome: 'retry', error: 'CONNECTION_LOST', afterMs: 60_000 } as const
  await settlement(app)({ message: claimed[0] as never, outcome })
  // A claim has the first message, which the network gave back, and takes the second one and the quota.
  await whileHeld(
    databaseUrl,
    ['select from messages where id = $1 for update', first],
    [() => cancelCampaign({ ...ctx }, id)],
    ['select from messages m, usage u where m.id = $1 and u."userId" = $2 for update nowait', second, ctx.principal.ownerId],
  )
  expect(await countersIn(ctx, id)).toMatchObject({ planned: 0, queued: 0, cancelled: 2 })
})
