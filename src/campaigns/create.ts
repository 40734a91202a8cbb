// Creates a campaign: stores a snapshot of its message and its recipients as rows, in one transaction.
import { plannedLeft, quotaRefusals, reservePlanned } from '../billing/admission/quota.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { orAsBefore, write } from '../core/idempotency/idempotency.ts'
import { senderOf } from '../core/principal.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { readSendingInstances } from '../instances/sending.sql.ts'
import { checkInstance } from '../instances/service.ts'
import { typesOfFiles } from '../media/service.ts'
import { withoutFile } from '../message-types/fields.ts'
import type { SendType } from '../message-types/service.ts'
import { providerOf } from '../providers/providers.ts'
import { readSuppressed, suppressed } from '../suppressions/service.ts'
import { type Audience, addContacts, type Recipient, readNumbers } from './audience.ts'
import { wake } from './campaign-job.ts'
import { insertRecipients } from './campaigns.sql.ts'
import { type Content, contentOf, type Text } from './content.ts'
import { tellCampaign } from './events.ts'
import { type CampaignFields, CreateCampaignInput } from './input.ts'

/** Recipients that are stored with one statement. */
const chunkSize = 2_000

/**
 * Creates a campaign, which starts at once or at its scheduled time.
 * @throws VALIDATION_ERROR when the input is invalid; NOT_FOUND when the instance, template, contact or group is not in the
 * workspace; TEMPLATE_INVALID when the template gives no sendable message for any recipient; MONTHLY_OUTBOUND_QUOTA_EXCEEDED when
 * the plan does not allow so many planned messages in a month.
 */
export async function createCampaign(ctx: Context, input: unknown): Promise<Campaign> {
  return await orAsBefore(ctx, async () => await create(ctx, input))
}

async function create(ctx: Context, input: unknown): Promise<Campaign> {
  const { app, principal } = ctx
  const fields = CreateCampaignInput.parse(app.config, input)
  const audience = await readNumbers(fields.recipients ?? [])
  return await write(ctx, async (tx) => {
    const { workspaceId } = principal
    await checkInstance(tx.db, workspaceId, fields.instanceId)
    const content = await contentOf(app, tx, workspaceId, fields)
    await checkStoredFile(app, tx, fields)
    await addContacts(tx, workspaceId, fields, audience)
    const { ownerId, plan } = principal
    if (audience.size > (await plannedLeft(tx, ownerId, plan))) throw await tooMuchPlanned(tx, principal)
    const campaign = await insertCampaign(ctx, tx, fields, content, audience.size)
    await freeze(tx, campaign, content, audience)
    // This reservation is exact. It comes last, because every other send of this owner waits for its row lock until the commit.
    const [fits] = await reservePlanned(tx, [{ ownerId, plan, n: audience.size }])
    if (!fits) throw await tooMuchPlanned(tx, principal)
    await wake(app, tx, campaign.id, campaign.scheduledFor ?? undefined)
    await tellCampaign(tx, campaign.id)
    return campaign
  })
}

/** @throws VALIDATION_ERROR when its file is one of ours that is not there, or that the network of the instance does not take. */
async function checkStoredFile(app: App, tx: Tx, { instanceId, templateId, type, mediaUrl }: CampaignFields): Promise<void> {
  if (templateId != null || !mediaUrl) return
  const fileType = (await typesOfFiles(app, tx, [mediaUrl])).get(mediaUrl)
  if (fileType === null) fail('VALIDATION_ERROR', `mediaUrl: ${withoutFile}`)
  if (fileType === undefined) return
  const { instances } = await readSendingInstances(tx, [instanceId])
  const provider = instances.get(instanceId)?.provider
  const fault = provider && providerOf(app, provider)?.faultOfFile?.(type as SendType, fileType)
  if (fault) fail('VALIDATION_ERROR', `mediaUrl: ${fault}`)
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

async function tooMuchPlanned(tx: Tx, { ownerId, plan }: Context['principal']): Promise<Error> {
  return (await quotaRefusals(tx, [ownerId]))(ownerId).tooMuchPlanned(plan)
}

async function freeze(tx: Tx, { id, workspaceId }: Campaign, content: Content, audience: Audience): Promise<void> {
  const recipients = [...audience.values()]
  let sendable = 0
  let fault: string | undefined
  for (let from = 0; from < recipients.length; from += chunkSize) {
    const chunk = recipients.slice(from, from + chunkSize)
    const isSuppressed = await readSuppressed(
      tx,
      chunk.map(({ to }) => ({ workspaceId, phone: to })),
    )
    const texts = (await content.renderFor(tx, workspaceId, chunk)).map((text, i): Text => {
      const { to } = chunk[i] as Recipient
      return isSuppressed(workspaceId, to) ? { ...text, error: suppressed, fault: undefined } : text
    })
    sendable += texts.filter((text) => text.error === null).length
    fault ??= texts.find((text) => text.fault !== undefined)?.fault
    const rows = chunk.map(({ to, reference }, i) => ({ to, reference, ...(texts[i] as Text) }))
    await insertRecipients(tx, id, from, rows)
  }
  if (sendable > 0) return
  if (fault === undefined) fail('VALIDATION_ERROR', 'recipients: every number is in the do-not-contact list')
  fail('TEMPLATE_INVALID', fault)
}
