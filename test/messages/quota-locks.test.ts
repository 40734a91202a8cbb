// The rows of quotas are locked in one order, whatever becomes of the messages of a claim.
import { expect, it } from 'vitest'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { scheduleMessage, sendMessage } from '../../src/messages/service.ts'
import { createSuppression } from '../../src/suppressions/service.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { bringForward, contextFor, openApp, openWorkspace } from './rig.ts'

const to = '+393337001021'
const lock = 'select from usage where "userId" = $1 for update'

it('a claim that gives quota of one account back and takes some of another locks their rows in the order of acceptance', async () => {
  const own = await cloneDatabase()
  const app = await openApp(own)
  const accounts = [await createAccount(own), await createAccount(own)].sort((a, b) => (a.userId < b.userId ? -1 : 1))
  const parties = await Promise.all(
    accounts.map(async (account) => {
      const { id: instanceId } = await connectedInstance(own, account)
      return { ctx: contextFor(app, account), message: { instanceId, to, type: 'text', text: 'hello' } }
    }),
  )
  const [first, second] = parties as [(typeof parties)[0], (typeof parties)[0]]
  const { id: refused } = await sendMessage(first.ctx, first.message)
  await createSuppression(first.ctx, { phone: to })
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const { id: due } = await scheduleMessage(second.ctx, { ...second.message, scheduledAt })
  await bringForward(own, [due])
  const [firstId, secondId] = accounts.map(({ userId }) => userId)
  // An acceptance for both accounts has the first row, and takes the second one.
  const [claim] = await whileHeld(own, [lock, firstId], [() => claimMessages(app, [refused, due])], [`${lock} nowait`, secondId])
  expect(claim?.claimed).toMatchObject([{ id: due }])
  const { rows } = await sql(own).query('select status from messages where id = $1', [refused])
  expect(rows).toEqual([{ status: 'failed' }])
  const counts = await sql(own).query('select "messagesCount" as n from usage order by "userId"')
  expect(counts.rows).toEqual([{ n: 0 }, { n: 1 }])
})

it('a refusal of a recipient who opted out locks no quota while the number is being suppressed, as by a keyword with a reply', async () => {
  const own = await cloneDatabase()
  const { app, ctx, instanceId } = await openWorkspace(own)
  const { workspaceId, ownerId } = ctx.principal
  const { id } = await sendMessage(ctx, { instanceId, to, type: 'text', text: 'hello' })
  const { claimed } = await claimMessages(app, [id])
  const outcome = { outcome: 'refused', error: 'OPTED_OUT' } as const
  await whileHeld(
    own,
    [
      `insert into suppressions (id, "workspaceId", phone, reason) values (gen_random_uuid(), $1, $2, 'keyword')`,
      workspaceId,
      to,
    ],
    [() => settlement(app)({ message: claimed[0] as never, outcome })],
    [`${lock} nowait`, ownerId],
  )
  const { rows } = await sql(own).query('select m.error, u."messagesCount" as n from messages m, usage u where m.id = $1', [id])
  expect(rows).toEqual([{ error: 'OPTED_OUT', n: 0 }])
})
