// A deletion of a contact that waits for a group, which is being deleted too, holds up no outcome of a send.
import { expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { deleteContact } from '../../src/contacts/service.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { messagesIn } from '../campaigns/rig.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openWorkspace } from '../messages/rig.ts'
import { addContacts, addGroup } from './bulk-rig.ts'

it('stores the outcome of a send to a contact whose deletion waits', async () => {
  const databaseUrl = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(databaseUrl)
  const contactIds = await addContacts(databaseUrl, ctx.principal.workspaceId, 1)
  const [contactId = ''] = contactIds
  const groupId = await addGroup(databaseUrl, ctx.principal.workspaceId, contactIds)
  const campaign = { instanceId, name: 'News', type: 'text', text: 'hello', contactIds }
  const { id } = await createCampaign({ ...ctx, idempotency: null }, campaign)
  await advance(app, id, 1)
  const [message] = (await claimMessages(app, await messagesIn(databaseUrl, id))).claimed

  const pool = sql(databaseUrl)
  const holder = await pool.connect()
  await holder.query('begin')
  await holder.query('select from contact_groups where id = $1 for no key update', [groupId])
  const deleted = deleteContact({ ...ctx }, contactId)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await pool.query(waiting)).rowCount === 1)

  await settlement(app)({ message: message as never, outcome: { outcome: 'accepted', providerMessageId: 'one' } })
  expect((await pool.query(waiting)).rowCount).toBe(1)
  await holder.query('rollback')
  holder.release()
  await deleted
  expect((await pool.query('select from messages where "acceptedAt" is not null and "contactId" is null')).rowCount).toBe(1)
})
