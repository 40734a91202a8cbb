// Creates a campaign: stores a snapshot of its message and its recipients as rows, in one transaction.
import { plannedLeft, reservePlanned, tooMuchPlanned } from '../billing/admission/quota.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { orAsBefore, write } from '../core/idempotency/idempotency.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { type Audience, addContacts, type Recipient, readNumbers } from './audience.ts'
import { wake } from './campaign-job.ts'
import { type Content, contentOf } from './content.ts'
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
    const { rows } = await tx.query('select from instances where id = $1 and "workspaceId" = $2 and "deletedAt" is null', [
      fields.instanceId,
      workspaceId,
    ])
    if (rows.length === 0) fail('NOT_FOUND', 'Instance not found')
    const content = await contentOf(tx, workspaceId, fields)
    await addContacts(tx, workspaceId, fields, audience)
    const { ownerId, plan } = principal
    if (audience.size > (await plannedLeft(tx, ownerId, plan))) throw tooMuchPlanned(plan)
    const campaign = await insertCampaign(ctx, tx, fields, content, audience.size)
    await freeze(tx, campaign, content, audience)
    // This reservation is exact. It comes last, because every other send of this owner waits for its row lock until the commit.
    const [fits] = await reservePlanned(tx, [{ ownerId, plan, n: audience.size }])
    if (!fits) throw tooMuchPlanned(plan)
    await wake(app, tx, campaign.id, campaign.scheduledFor ?? undefined)
    return campaign
  })
}

async function insertCampaign(
  { principal }: Context,
  tx: Sql,
  fields: CampaignFields,
  { type, body, mediaUrl, content, templateId }: Content,
  recipients: number,
): Promise<Campaign> {
  const { rows } = await tx.query<Campaign>(
    `insert into campaigns (id, "workspaceId", "userId", "instanceId", name, type, "templateId", body, "mediaUrl", content,
       "recipientsCount", "scheduledFor", status, "lastActivityAt")
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now()) returning *`,
    [
      newId(),
      principal.workspaceId,
      principal.userId,
      fields.instanceId,
      fields.name,
      type,
      templateId,
      body,
      mediaUrl,
      content === null ? null : JSON.stringify(content),
      recipients,
      fields.scheduledAt ?? null,
      fields.scheduledAt ? 'scheduled' : 'running',
    ],
  )
  return rows[0] as Campaign
}

async function freeze(tx: Sql, { id, workspaceId }: Campaign, content: Content, audience: Audience): Promise<void> {
  const recipients = [...audience.values()]
  let sendable = 0
  let fault: string | undefined
  for (let from = 0; from < recipients.length; from += chunkSize) {
    const chunk = recipients.slice(from, from + chunkSize)
    const texts = await content.renderFor(tx, workspaceId, chunk)
    sendable += texts.filter((text) => text.error === null).length
    fault ??= texts.find((text) => text.error !== null)?.fault
    await insertRecipients(tx, id, from, chunk, texts)
  }
  if (sendable === 0) fail('TEMPLATE_INVALID', fault)
}

async function insertRecipients(
  tx: Sql,
  campaignId: string,
  from: number,
  recipients: readonly Recipient[],
  texts: readonly { body: string | null; error: string | null; contactId: string | null }[],
): Promise<void> {
  await tx.query({
    name: 'campaigns.freeze',
    text: `insert into campaign_recipients ("campaignId", position, "to", "contactId", body, error, status)
      select $1, $2::int + i, "to", contact, body, error, case when error is null then 'planned' else 'failed' end::recipient_status
      from unnest($3::text[], $4::uuid[], $5::text[], $6::text[]) with ordinality as u("to", contact, body, error, i)`,
    values: [
      campaignId,
      from,
      recipients.map(({ to }) => to),
      texts.map(({ contactId }) => contactId),
      texts.map(({ body }) => body),
      texts.map(({ error }) => error),
    ],
  })
}
