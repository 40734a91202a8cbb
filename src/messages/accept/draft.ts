// Drafts of messages: the texts composed, the records that they name checked, nothing reserved and nothing stored.
import type { App } from '../../core/app.ts'
import { failure } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { senderOf } from '../../core/principal.ts'
import { withoutFile } from '../../message-types/fields.ts'
import { providerOf, sendsTemplates } from '../../providers/providers.ts'
import { suppressed } from '../../suppressions/service.ts'
import { compose, fillTemplate } from './compose.ts'
import type { Records } from './look-up.ts'
import type { NewMessage } from './rows.ts'
import type { Result, Submission } from './submission.ts'

/** A message that is valid, but has no quota yet. */
export interface Draft extends Omit<NewMessage, 'createdAt'> {
  /** Position in the batch. */
  index: number
  submission: Submission
}

/** Composes each submission that has no result yet; the refusals become results. */
export function draftAll(
  app: App,
  submissions: readonly Submission[],
  results: (Result | undefined)[],
  records: Records,
): Draft[] {
  const drafts: Draft[] = []
  for (const [index, submission] of submissions.entries()) {
    if (results[index] !== undefined) continue
    try {
      drafts.push({ index, ...draft(app, submission, records) })
    } catch (error) {
      results[index] = error as Error
    }
  }
  return drafts
}

/** @throws NOT_FOUND, VALIDATION_ERROR, TEMPLATE_INVALID or RECIPIENT_SUPPRESSED, the first that applies. */
function draft(app: App, submission: Submission, records: Records): Omit<Draft, 'index'> {
  const { input, principal, scheduledAt } = submission
  const instance = checkedInstance(app, submission, records)
  const contact = records.contact(submission)
  const composed =
    input.templateId == null
      ? compose(input, contact)
      : fillTemplate(input, contact, records.template(submission), sendsTemplates(app, instance.provider))
  if (records.isSuppressed(submission)) throw failure(suppressed)
  return {
    submission,
    id: newId(),
    principal: { workspaceId: principal.workspaceId, userId: senderOf(principal) },
    instance,
    to: input.to,
    reference: input.reference,
    scheduledAt,
    campaignId: null,
    ...composed,
  }
}

/** Returns the instance that is to send. @throws when there is none, or when it cannot send the named file. */
function checkedInstance(app: App, submission: Submission, records: Records) {
  const { input } = submission
  const instance = records.instance(submission)
  const fileType = records.fileType(submission)
  const refusal = input.templateId == null ? 'VALIDATION_ERROR' : 'TEMPLATE_INVALID'
  if (fileType === null) throw failure(refusal, `mediaUrl: ${withoutFile}`)
  if (!instance) throw failure('NOT_FOUND', 'Instance not found')
  const type = input.type ?? records.template(submission)?.type
  const fault = fileType && type && providerOf(app, instance.provider)?.faultOfFile?.(type, fileType)
  if (fault) throw failure(refusal, `mediaUrl: ${fault}`)
  return instance
}
