// Statements of a message's way are planned once for a connection, and not for each message.
import { expect, it } from 'vitest'
import { takeQuota } from '../../src/billing/admission/quota.sql.ts'
import { lockContactsByPhone } from '../../src/contacts/contacts.sql.ts'
import { bossDatabase } from '../../src/core/database/boss-database.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { newId } from '../../src/core/id.ts'
import { readSendingInstances } from '../../src/instances/sending.sql.ts'
import { lockOpen, storeLeases } from '../../src/messages/dispatch/claim.sql.ts'
import { readHolds } from '../../src/messages/dispatch/holds.sql.ts'
import { storeAccepted } from '../../src/messages/dispatch/settle.sql.ts'
import { lockMessages, storeReceipts } from '../../src/messages/receipts/receipts.sql.ts'
import { readSuppressed } from '../../src/suppressions/suppressions.sql.ts'
import { claimByIds } from '../../src/webhooks/claim.sql.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openWorkspace } from '../messages/rig.ts'

it('plans the statements for one message at most five times', async () => {
  const { app, ctx, instanceId } = await openWorkspace(await cloneDatabase())
  const { workspaceId, userId, ownerId } = ctx.principal
  // With so many rows, a plan for one message seems much cheaper than one for several.
  await app.pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, safety, status, "providerMessageId")
     select gen_random_uuid(), $1, $2, $3, 'text', '+39' || i, '+39' || i, 'hello', '{}', 'sending', 'p' || i from generate_series(1, 3000) i`,
    [workspaceId, userId, instanceId],
  )
  await app.pool.query(
    `insert into contacts (id, "workspaceId", name, phone) select gen_random_uuid(), $1, 'Ada', '+39' || i from generate_series(1, 3000) i`,
    [workspaceId],
  )
  await app.pool.query(
    `insert into suppressions (id, "workspaceId", phone, reason) select gen_random_uuid(), $1, '+39' || i, 'manual' from generate_series(1, 3000) i`,
    [workspaceId],
  )
  await app.pool.query('analyze')
  const { rows } = await app.pool.query<{ id: string }>('select id from messages limit 12')
  const client = await app.pool.connect()
  const sql = { query: client.query.bind(client) } as Sql
  await client.query('begin')
  for (const { id } of rows) {
    const [token, phone, at] = [newId(), '+391', new Date()]
    await readSendingInstances(sql, [instanceId])
    await takeQuota(sql, [{ ownerId, quota: 100, wanted: 1 }], false)
    await readSuppressed(sql, [{ workspaceId, phone }])
    await lockContactsByPhone(sql, [{ workspaceId, phone }], false)
    await app.boss.insert('message.dispatch', [{ data: { id } }], { db: bossDatabase(sql) })
    await lockOpen(sql, [id])
    await readHolds(sql, ['key'])
    await storeLeases(sql, [{ id, token }])
    await storeAccepted(sql, [{ id, token, providerMessageId: id }])
    const [row] = await lockMessages(sql, [{ instanceId, messageId: id, status: 'sent', at }])
    await storeReceipts(sql, [
      { row: row as NonNullable<typeof row>, status: 'sent', error: null, detail: null, at: { sent: at } },
    ])
    await claimByIds(sql, token, [id])
  }
  const prepared = await client.query<{ name: string }>(
    'select name from pg_prepared_statements where generic_plans + custom_plans >= 12 and custom_plans <= 5 order by name',
  )
  await client.query('rollback')
  client.release()
  expect(prepared.rows.map(({ name }) => name.replace(/^boss\..*/, 'boss'))).toEqual([
    'billing.take-quota',
    'boss',
    'contacts.lockByPhoneAtOnce',
    'holds.read',
    'instances.sending',
    'messages.claim.lease',
    'messages.claim.read',
    'messages.receipts.lock',
    'messages.receipts.store',
    'messages.settle.accept',
    'suppressions.read',
    'webhooks.claim.one',
  ])
})
