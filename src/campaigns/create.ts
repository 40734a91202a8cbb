// Creates a campaign: stores a snapshot of its message and its recipients as rows, in one transaction.
import { reservePlanned } from '../billing/admission/quota.ts'
import { lockOwnContacts } from '../contacts/contacts.sql.ts'
import type { Context } from '../core/context.ts'
import type { Tx } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'
import { replayIfInvalid, write } from '../core/idempotency/idempotency.ts'
import { senderOf } from '../core/principal.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { readCampaign } from './audience.ts'
import { enqueueStep } from './campaign-job.ts'
import { insertRecipients } from './campaigns.sql.ts'
import type { Content } from './content.ts'
import { composeAll, draftCampaign, tooMuchPlanned } from './draft.ts'
import { tellCampaign } from './events.ts'
import type { CampaignFields } from './input.ts'
import { endPlanned } from './take-back.ts'
import { inTurn } from './turns.ts'

/**
 * Creates a campaign, which starts at once or at its scheduled time.
 * @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the instance, template, contact or group is not in the
 * workspace; TEMPLATE_INVALID when the template gives no sendable message for any recipient; MONTHLY_OUTBOUND_QUOTA_EXCEEDED when
 * the plan does not allow so many planned messages in a month.
 */
export async function createCampaign(ctx: Context, input: unknown): Promise<Campaign> {
  return await replayIfInvalid(ctx, async () => await create(ctx, input))
}

async function create(ctx: Context, input: unknown): Promise<Campaign> {
  const { app, principal } = ctx
  const { fields, numbers } = await readCampaign(app.config, input)
  return await inTurn(ctx, fields, () =>
    write(ctx, async (tx) => {
      // A second try of the transaction begins with the numbers alone.
      const audience = new Map(numbers.audience)
      const { workspaceId, ownerId, plan } = principal
      const content = await draftCampaign(ctx, tx, fields, audience)
      const campaign = await insertCampaign(ctx, tx, fields, content, audience.size)
      const positions = new Map<string, number>()
      await composeAll(tx, workspaceId, content, audience, async (chunk, before) => {
        await insertRecipients(tx, campaign.id, before, chunk)
        for (const [i, { contactId }] of chunk.entries()) if (contactId !== null) positions.set(contactId, before + i + 1)
      })
      await leaveOutDeleted(tx, campaign, positions)
      // This reservation is exact. It comes last, because every other send of this owner waits for its row lock until the commit.
      const [fits] = await reservePlanned(tx, [{ ownerId, plan, n: audience.size }])
      if (!fits) throw await tooMuchPlanned(tx, principal)
      await enqueueStep(app, tx, campaign.id, campaign.scheduledFor ?? undefined, ownerId)
      await tellCampaign(tx, campaign.id)
      return campaign
    }),
  )
}

/** Contacts that are locked by one statement. */
const lockedAtOnce = 2_000

/**
 * Cancels recipients whose contacts were deleted since they were looked up, which is seconds ago in a large campaign, and erases their text. Locks
 * the other contacts until the commit, so that an erasure that comes later finds the campaign. `positions` are those of the contacts.
 */
async function leaveOutDeleted(tx: Tx, { id, workspaceId }: Campaign, positions: ReadonlyMap<string, number>): Promise<void> {
  const ids = [...positions.keys()].toSorted()
  const deleted = new Map(positions)
  for (let from = 0; from < ids.length; from += lockedAtOnce) {
    for (const contactId of await lockOwnContacts(tx, workspaceId, ids.slice(from, from + lockedAtOnce), 'key share')) {
      deleted.delete(contactId)
    }
  }
  if (deleted.size > 0) await endPlanned(tx, id, { status: 'cancelled', error: 'CONTACT_DELETED' }, [...deleted.values()])
}

async function insertCampaign(
  { principal }: Context,
  tx: Tx,
  { instanceId, name, scheduledAt = null, ratePerMinute = null, quietHours }: CampaignFields,
  { type, body, mediaUrl, content, template, templateId }: Content,
  recipientsCount: number,
): Promise<Campaign> {
  const now = new Date()
  return await tx.db.campaign.create({
    data: {
      id: newId(),
      workspaceId: principal.workspaceId,
      userId: senderOf(principal),
      instanceId,
      name,
      type,
      templateId,
      body,
      mediaUrl,
      ...(content !== null && { content }),
      ...(template && { template: { ...template, ...(template.names && { names: [...template.names] }) } }),
      recipientsCount,
      scheduledFor: scheduledAt,
      ratePerMinute,
      ...(quietHours && { quietHours }),
      status: scheduledAt ? 'scheduled' : 'running',
      lastActivityAt: now,
      createdAt: now,
      updatedAt: now,
    },
  })
}
