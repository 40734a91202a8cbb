// Tells what would happen to a message if it were sent: the same checks and refusals, and nothing is stored.
import { plannedLeft, quotaRefusals } from '../../billing/admission/quota.ts'
import { foreseeQuota, type QuotaForesight } from '../../billing/quota-preview.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { foresee, inPreviewTurn } from '../safety/foresee.ts'
import type { Judgement } from '../safety/safety.ts'
import type { ComposedMessage } from './compose.ts'
import { draftAll } from './draft.ts'
import { lookUp } from './look-up.ts'
import type { Result, Submission } from './submission.ts'

export interface MessagePreview
  extends Pick<ComposedMessage, 'type' | 'body' | 'mediaUrl' | 'contactId'>,
    Omit<Judgement, 'cold'>,
    QuotaForesight {
  to: string
  dueAt: Date
}

/** @throws what accepting the message would throw. */
export async function previewSubmission(app: App, submission: Submission): Promise<MessagePreview> {
  return await inPreviewTurn(submission.principal.ownerId, () => sqlTransaction(app.pool, (tx) => previewIn(app, tx, submission)))
}

async function previewIn(app: App, tx: Sql, submission: Submission): Promise<MessagePreview> {
  const results: (Result | undefined)[] = []
  const records = await lookUp(app, tx, [submission])
  const [draft] = draftAll(app, [submission], results, records)
  if (!draft) throw results[0]
  const { principal, scheduledAt } = submission
  const { ownerId, plan } = principal
  const foreseen = await foreseeQuota(tx, principal, 1)
  const refusals = (await quotaRefusals(tx, [ownerId]))(ownerId)
  if (!foreseen.isEnough) throw refusals.usedUp()
  if (scheduledAt && (await plannedLeft(tx, ownerId, plan)) < 1) throw refusals.tooMuchPlanned(plan)
  const { type, body, mediaUrl, contactId, to, template } = draft
  const dueAt = scheduledAt ?? records.now
  const instance = records.instance(submission) ?? fail('NOT_FOUND', 'Instance not found')
  const judged = await foresee(app, tx, { instance, messages: [{ to, at: dueAt }], approved: template !== null })
  return { type, body, mediaUrl, contactId, to, dueAt, ...foreseen, ...judged }
}
