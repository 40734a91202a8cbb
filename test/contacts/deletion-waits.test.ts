// Deletions of contacts that must wait: for a group that is being deleted too, or for messages that are being reported.
import { describe, expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { detachMessages } from '../../src/contacts/groups/membership.sql.ts'
import { deleteContact } from '../../src/contacts/service.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { messagesIn } from '../campaigns/rig.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
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

describe('a message of a contact that another transaction holds', () => {
  /** A contact with many messages; those who lock them do it in the order of their ids, as receipts do. */
  async function open() {
    const databaseUrl = await cloneDatabase()
    const { ctx, instanceId } = await openWorkspace(databaseUrl)
    const { workspaceId, userId } = ctx.principal
    const [contactId = ''] = await addContacts(databaseUrl, workspaceId, 1)
    const { rows } = await sql(databaseUrl).query(
      `insert into messages (id, "workspaceId", "userId", "instanceId", "contactId", type, "to", peer, body, safety, "createdAt")
       select gen_random_uuid(), $1, $2, $3, $4, 'text', '+4930999001', '+4930999001', 'hello', '{}', now() - random() * interval '1 hour'
       from generate_series(1, 50)
       returning id`,
      [workspaceId, userId, instanceId, contactId],
    )
    const [first, ...others] = rows.map(({ id }) => id as string).sort()
    const lock = 'select from messages where id = any($1) for update nowait'
    return { databaseUrl, ctx, contactId, first: [lock, [first]], others: [lock, others] } as const
  }

  it('is waited for by a deletion of the contact, which holds no later one by then', async () => {
    const { databaseUrl, ctx, contactId, first, others } = await open()
    const [deleted] = await whileHeld(databaseUrl, [...first], [() => deleteContact({ ...ctx }, contactId)], [...others])
    expect(deleted).toEqual({ id: contactId, deleted: true })
  })

  it('is waited for before the deletion of a contact with very many messages, which holds no later one by then', async () => {
    const { databaseUrl, contactId, first, others } = await open()
    const detach = () => sqlTransaction(sql(databaseUrl), (tx) => detachMessages(tx, [contactId], 100))
    expect(await whileHeld(databaseUrl, [...first], [detach], [...others])).toEqual([50])
  })
})
