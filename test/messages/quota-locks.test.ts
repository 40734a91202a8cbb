// The rows of quotas are locked in one order, whatever becomes of the messages of a claim.
import { expect, it } from 'vitest'
import { createCampaign } from '../../src/campaigns/create.ts'
import { createContact } from '../../src/contacts/service.ts'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { claimMessages } from '../../src/messages/dispatch/claim.ts'
import { settlement } from '../../src/messages/dispatch/settle.ts'
import { scheduleMessage, sendMessage } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { createSuppression } from '../../src/suppressions/service.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { bringForward, contextFor, openApp, openWorkspace } from './rig.ts'

const to = '+393337001021'
const lock = 'select from usage where "userId" = $1 for update'

interface Party {
  ctx: Context
  message: { instanceId: string; to: string; type: 'text'; text: string }
}

/** Two accounts, in the order in which acceptance locks their quotas. */
async function openTwo(own: string): Promise<{ app: App; parties: [Party, Party]; ids: string[] }> {
  const app = await openApp(own)
  const accounts = [await createAccount(own), await createAccount(own)].sort((a, b) => (a.userId < b.userId ? -1 : 1))
  const parties = await Promise.all(
    accounts.map(async (account): Promise<Party> => {
      const { id: instanceId } = await connectedInstance(own, account)
      return { ctx: contextFor(app, account), message: { instanceId, to, type: 'text', text: 'hello' } }
    }),
  )
  return { app, parties: parties as [Party, Party], ids: accounts.map(({ userId }) => userId) }
}

it('a claim that gives quota of one account back and takes some of another locks their rows in the order of acceptance', async () => {
  const own = await cloneDatabase()
  const {
    app,
    parties: [first, second],
    ids: [firstId, secondId],
  } = await openTwo(own)
  const { id: refused } = await sendMessage(first.ctx, first.message)
  await createSuppression(first.ctx, { phone: to })
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const { id: due } = await scheduleMessage(second.ctx, { ...second.message, scheduledAt })
  await bringForward(own, [due])
  // An acceptance for both accounts has the first row, and takes the second one.
  const [claim] = await whileHeld(own, [lock, firstId], [() => claimMessages(app, [refused, due])], [`${lock} nowait`, secondId])
  expect(claim?.claimed).toMatchObject([{ id: due }])
  const { rows } = await sql(own).query('select status from messages where id = $1', [refused])
  expect(rows).toEqual([{ status: 'failed' }])
  const counts = await sql(own).query('select "messagesCount" as n from usage order by "userId"')
  expect(counts.rows).toEqual([{ n: 0 }, { n: 1 }])
})

it('outcomes that give quota of two accounts back, one for a message that is not tried again, lock their rows in that order too', async () => {
  const own = await cloneDatabase()
  const {
    app,
    parties: [first, second],
    ids: [firstId, secondId],
  } = await openTwo(own)
  const contact = await createContact(first.ctx, { name: 'Ada', phone: to })
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const { to: _, ...content } = first.message
  const campaign = { ...content, name: 'Later', recipients: [{ to }], scheduledAt }
  const { id: campaignId } = await createCampaign(first.ctx, campaign)
  const { id: withdrawn } = await sendMessage(first.ctx, { ...first.message, contactId: contact.id })
  await sql(own).query('update messages set "campaignId" = $2 where id = $1', [withdrawn, campaignId])
  const { id: refused } = await sendMessage(second.ctx, second.message)
  const { claimed } = await claimMessages(app, [withdrawn, refused])
  // The contact is deleted during the attempt.
  await sql(own).query('update messages set "contactId" = null where id = $1', [withdrawn])
  const outcomes = new Map<string, SendOutcome>([
    [withdrawn, { outcome: 'retry', error: 'TEMPORARILY_UNAVAILABLE' }],
    [refused, { outcome: 'refused', error: 'RECIPIENT_NOT_FOUND' }],
  ])
  const settle = () =>
    Promise.all(claimed.map((message) => settlement(app)({ message, outcome: outcomes.get(message.id) as SendOutcome })))
  await whileHeld(own, [lock, firstId], [settle], [`${lock} nowait`, secondId])
  const { rows } = await sql(own).query('select status, error from messages where id = any($1) order by id', [
    [withdrawn, refused],
  ])
  expect(rows).toEqual([
    { status: 'cancelled', error: 'CONTACT_DELETED' },
    { status: 'failed', error: 'RECIPIENT_NOT_FOUND' },
  ])
  const counts = await sql(own).query('select "messagesCount" as n from usage order by "userId"')
  expect(counts.rows).toEqual([{ n: 0 }, { n: 0 }])
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
