// Tells what would happen to a campaign if it were created: the same checks and refusals, and nothing is stored.
import { foreseeQuota, type QuotaForesight } from '../billing/quota-preview.ts'
import type { Context } from '../core/context.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { dayMs } from '../core/durations.ts'
import { type Issue, invalid } from '../core/errors.ts'
import { readSendingInstances, type SendingInstance } from '../instances/sending.sql.ts'
import { type Departure, foresee, foreseeState, inPreviewTurn } from '../messages/safety/foresee.ts'
import type { MessageSafety } from '../messages/safety/safety.ts'
import { suppressed } from '../suppressions/service.ts'
import { checkContactIds, type Numbers, readNumbers } from './audience.ts'
import { departures, lastDeparture, type Schedule } from './departures.ts'
import { type Composed, composeAll, draftCampaign } from './draft.ts'
import { type CampaignFields, CreateCampaignInput } from './input.ts'
import { defaultRates } from './pace.ts'
import { inTurn } from './turns.ts'

/** Recipients of each kind that are named. */
export const mostNamed = 20
/** Messages that the safety rules judge: those of the first day, at most so many. */
const mostJudged = 5_000

/** A recipient that would get no message, and the reason. */
export interface LeftOut {
  to: string | null
  index: number | null
  reason: string
}

/** Recipients that would get no message for one kind of reason: how many, and the first of them. */
export interface LeftOuts {
  count: number
  first: LeftOut[]
}

export interface CampaignPreview extends QuotaForesight {
  recipients: number
  sendable: number
  repeated: number
  invalid: LeftOuts
  suppressed: LeftOuts
  missing: LeftOuts
  ratePerMinute: number | null
  firstAt: Date
  lastAt: Date | null
  warnings: string[]
  safety: MessageSafety
}

/** @throws what creating the campaign would throw, except for invalid recipients while others are left. */
export async function previewCampaign(ctx: Context, input: unknown): Promise<CampaignPreview> {
  const { app, principal } = ctx
  checkContactIds(input)
  const fields = CreateCampaignInput.parse(app.config, input)
  const numbers = await readNumbers(fields.recipients ?? [], { refuse: false })
  const others = (fields.contactIds?.length ?? 0) + (fields.groupIds?.length ?? 0)
  if (numbers.audience.size === 0 && others === 0) throw invalid(numbers.faults, { more: numbers.more })
  const work = () => transaction(app.db, (tx) => previewIn(ctx, tx, fields, numbers))
  return await inPreviewTurn(principal.ownerId, () => inTurn(ctx, fields, work))
}

async function previewIn(ctx: Context, tx: Tx, fields: CampaignFields, numbers: Numbers): Promise<CampaignPreview> {
  const { principal } = ctx
  // A second try of the transaction begins with the numbers alone.
  const audience = new Map(numbers.audience)
  const content = await draftCampaign(ctx, tx, fields, audience)
  const found = { suppressed: noneLeftOut(), missing: noneLeftOut() }
  const sendable: Composed[] = []
  await composeAll(tx, principal.workspaceId, content, audience, (chunk) => {
    for (const one of chunk) {
      if (one.error === null) sendable.push(one)
      else leaveOut(one.error === suppressed ? found.suppressed : found.missing, one)
    }
  })
  const quota = await foreseeQuota(tx, principal, sendable.length)
  const counts = { recipients: audience.size, sendable: sendable.length, repeated: numbers.repeated }
  const course = await courseOf(ctx, tx, fields, sendable, {
    approved: content.template !== null,
    campaignRecipients: audience.size,
  })
  return { ...counts, invalid: invalidOf(numbers), ...found, ...quota, ...course }
}

function noneLeftOut(): LeftOuts {
  return { count: 0, first: [] }
}

function leaveOut(outs: LeftOuts, { to, index, error, fault }: Composed): void {
  outs.count++
  if (outs.first.length < mostNamed) outs.first.push({ to, index, reason: fault ?? error ?? '' })
}

function invalidOf({ faults, invalid: count }: Numbers): LeftOuts {
  const byIndex = Map.groupBy(faults, ({ path }) => Number(path.split('.')[1]))
  const reasonOf = (issues: readonly Issue[]) => issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
  const first = [...byIndex].slice(0, mostNamed).map(([index, issues]) => ({ to: null, index, reason: reasonOf(issues) }))
  return { count, first }
}

type Course = Pick<CampaignPreview, 'ratePerMinute' | 'firstAt' | 'lastAt' | 'warnings' | 'safety'>

/** When its messages leave, and how the safety rules judge that. */
async function courseOf(
  { app }: Context,
  tx: Tx,
  { instanceId, scheduledAt, ratePerMinute, quietHours = null }: CampaignFields,
  sendable: readonly Composed[],
  { approved, campaignRecipients }: { approved: boolean; campaignRecipients: number },
): Promise<Course> {
  const { now, instances } = await readSendingInstances(tx, [instanceId])
  const instance = instances.get(instanceId) as SendingInstance
  const start = scheduledAt ? new Date(scheduledAt) : now
  // The sandbox knows no limit.
  const byState = async () =>
    instance.provider === 'sandbox' ? null : defaultRates[await foreseeState(app, tx, instance, start)]
  const rate = ratePerMinute ?? (await byState())
  const schedule: Schedule = { start, rate, quietHours }
  const messages = firstDay(sendable, schedule)
  const judged = await foresee(app, tx, { instance, messages, approved, campaignRecipients })
  const lastAt = lastDeparture(schedule, sendable.length)
  return { ratePerMinute: rate, firstAt: messages[0].at, lastAt, ...judged }
}

/** The messages of the first day, at most {@link mostJudged}; there is one at least, because {@link composeAll} refuses otherwise. */
function firstDay(sendable: readonly Composed[], schedule: Schedule): [Departure, ...Departure[]] {
  const leaving: Departure[] = []
  for (const at of departures(schedule)) {
    const next = sendable[leaving.length]
    if (!next || leaving.length >= mostJudged) break
    if (leaving[0] && at.getTime() - leaving[0].at.getTime() >= dayMs) break
    leaving.push({ to: next.to, at })
  }
  return leaving as [Departure, ...Departure[]]
}
