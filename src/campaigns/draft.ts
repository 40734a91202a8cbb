// The draft of a campaign, with its messages and recipients: everything that is checked before anything is stored. Creation and preview share it.
import { plannedLeft, quotaRefusals } from '../billing/admission/quota.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { readSendingInstances } from '../instances/sending.sql.ts'
import { checkInstance } from '../instances/service.ts'
import { typesOfFiles } from '../media/service.ts'
import { withoutFile } from '../message-types/fields.ts'
import { providerOf } from '../providers/providers.ts'
import { suppressed } from '../suppressions/service.ts'
import { readSuppressed } from '../suppressions/suppressions.sql.ts'
import { type Audience, addContacts, type Recipient } from './audience.ts'
import { type Content, contentOf, type Text } from './content.ts'
import type { CampaignFields } from './input.ts'

/** Recipients that are composed, and stored, with one statement each. */
const chunkSize = 2_000

/**
 * Checks what the campaign refers to, and adds its contacts and groups to `audience`.
 * @throws VALIDATION_ERROR, NOT_FOUND, TEMPLATE_INVALID and MONTHLY_OUTBOUND_QUOTA_EXCEEDED as creating it does.
 */
export async function draftCampaign(
  { app, principal }: Context,
  tx: Tx,
  fields: CampaignFields,
  audience: Audience,
): Promise<Content> {
  const { workspaceId, ownerId, plan } = principal
  // A fault of the body comes before what the body refers to, as for messages.
  const ownFile = await typeOfFile(app, tx, fields.mediaUrl, 'VALIDATION_ERROR')
  await checkInstance(tx.db, workspaceId, fields.instanceId)
  const content = await contentOf(app, tx, workspaceId, fields)
  const refusal = content.templateId === null ? 'VALIDATION_ERROR' : 'TEMPLATE_INVALID'
  const fileType = content.templateId === null ? ownFile : await typeOfFile(app, tx, content.mediaUrl, refusal)
  if (fileType) await checkFileType(app, tx, fields.instanceId, content.type, fileType, refusal)
  await addContacts(tx, workspaceId, fields, audience)
  if (audience.size > (await plannedLeft(tx, ownerId, plan))) throw await tooMuchPlanned(tx, principal)
  return content
}

type FileRefusal = 'VALIDATION_ERROR' | 'TEMPLATE_INVALID'

/** Returns the MIME type of a file of ours; undefined for another address or none. @throws `refusal` when there is no such file. */
async function typeOfFile(
  app: App,
  tx: Tx,
  mediaUrl: string | null | undefined,
  refusal: FileRefusal,
): Promise<string | undefined> {
  if (!mediaUrl) return undefined
  const fileType = (await typesOfFiles(app, tx, [mediaUrl])).get(mediaUrl)
  return fileType === null ? fail(refusal, `mediaUrl: ${withoutFile}`) : fileType
}

/** @throws `refusal` when the network of the instance does not take files of this MIME type in messages of this type. */
async function checkFileType(
  app: App,
  tx: Tx,
  instanceId: string,
  type: Content['type'],
  fileType: string,
  refusal: FileRefusal,
): Promise<void> {
  const { instances } = await readSendingInstances(tx, [instanceId])
  const provider = instances.get(instanceId)?.provider
  const fault = provider && providerOf(app, provider)?.faultOfFile?.(type, fileType)
  if (fault) fail(refusal, `mediaUrl: ${fault}`)
}

export async function tooMuchPlanned(tx: Tx, { ownerId, plan }: Context['principal']): Promise<Error> {
  return (await quotaRefusals(tx, [ownerId]))(ownerId).tooMuchPlanned(plan)
}

/** A recipient with its rendered message. */
export type Composed = Recipient & Text

/**
 * Composes the messages of all recipients, and hands them over in chunks with the number of those before them.
 * @throws TEMPLATE_INVALID or VALIDATION_ERROR when there is no sendable message for any recipient.
 */
export async function composeAll(
  tx: Tx,
  workspaceId: string,
  content: Content,
  audience: Audience,
  take: (chunk: readonly Composed[], before: number) => Promise<void> | void,
): Promise<void> {
  const recipients = [...audience.values()]
  let sendable = 0
  let fault: string | undefined
  for (let from = 0; from < recipients.length; from += chunkSize) {
    const chunk = recipients.slice(from, from + chunkSize)
    const isSuppressed = await readSuppressed(
      tx,
      chunk.map(({ to }) => ({ workspaceId, phone: to })),
    )
    const texts = await content.renderFor(tx, workspaceId, chunk)
    const composed = chunk.map((recipient, i): Composed => {
      const whole = { ...recipient, ...(texts[i] as Text) }
      return isSuppressed(workspaceId, recipient.to) ? { ...whole, error: suppressed, fault: undefined } : whole
    })
    sendable += composed.filter(({ error }) => error === null).length
    fault ??= composed.find((one) => one.fault !== undefined)?.fault
    await take(composed, from)
  }
  if (sendable > 0) return
  if (fault === undefined) fail('VALIDATION_ERROR', 'recipients: every number is in the do-not-contact list')
  fail('TEMPLATE_INVALID', fault)
}
