// A campaign may enqueue a page while its instance is deleted, because the campaign's lock does not hold the instance.
import { expect, it } from 'vitest'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { newId } from '../../src/core/id.ts'
import { acceptCampaignMessages } from '../../src/messages/accept/campaign-messages.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'

it('enqueues the page of an instance that was deleted a moment ago; its messages fail when they are claimed', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const { workspaceId, userId } = ctx.principal
  const id = newId()
  await sql(databaseUrl).query(
    `insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, body, status, "recipientsCount")
     values ($1, $2, $3, $4, 'Campaign', 'text', 'Hello', 'running', 1)`,
    [id, workspaceId, userId, instanceId],
  )
  await sql(databaseUrl).query('update instances set "deletedAt" = now() where id = $1', [instanceId])
  const campaign = {
    id,
    workspaceId,
    userId,
    instanceId,
    recipientsCount: 1,
    type: 'text',
    body: 'Hello',
    mediaUrl: null,
    content: null,
    template: null,
  } as const
  const recipient = { to: '+4915112345678', contactId: null, body: null, reference: null, messageId: null, parameters: null }
  const { ids } = await sqlTransaction(app.pool, (tx) => acceptCampaignMessages(app, tx, campaign, [recipient], new Date()))
  expect(ids).toHaveLength(1)
  const { rows } = await sql(databaseUrl).query('select id, status from messages where "campaignId" = $1', [id])
  expect(rows).toEqual([{ id: ids[0], status: 'queued' }])
})
