// What can be done with messages: send, schedule, send many, cancel.
import { returnQuota } from '../billing/admission/quota.ts'
import type { Context } from '../core/context.ts'
import { codeOf, type ErrorCode, errors, fail } from '../core/errors.ts'
import { acceptedBefore, orAsBefore, write, writeInPieces } from '../core/idempotency/idempotency.ts'
import { publicFailure } from '../core/public-failure.ts'
import { ownTurn } from '../core/turns.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { Message } from '../generated/prisma/client.ts'
import { acceptMessage, acceptMessages } from './accept/accept.ts'
import type { Offer } from './accept/offer.ts'
import { ScheduleMessageInput, SendMessageInput } from './input.ts'

/** Sends now. @throws VALIDATION_ERROR, NOT_FOUND, MONTHLY_OUTBOUND_QUOTA_EXCEEDED. */
export async function sendMessage(ctx: Context, input: unknown): Promise<Message> {
  return await acceptMessage(ctx, instantOffer(ctx, input))
}

/** Sends at `input.scheduledAt`. @throws as {@link sendMessage}; the quota is asked again when it leaves. */
export async function scheduleMessage(ctx: Context, input: unknown): Promise<Message> {
  return await orAsBefore(ctx, async () => await acceptMessage(ctx, scheduledOffer(ctx, input)))
}

/** What a member of a bulk is called that is no message at all. */
const whole = 'message'

function instantOffer({ app, principal, idempotency }: Context, input: unknown): Offer {
  return { principal, idempotency, input: SendMessageInput.parse(app.config, input, whole), scheduledAt: null }
}

function scheduledOffer({ app, principal, idempotency }: Context, input: unknown): Offer {
  const parsed = ScheduleMessageInput.parse(app.config, input, whole)
  return { principal, idempotency, input: parsed, scheduledAt: new Date(parsed.scheduledAt) }
}

export interface BulkResult {
  accepted: { index: number; id: string }[]
  rejected: { index: number; code: ErrorCode; message: string }[]
}

/** Sends or schedules each, judged alone: what is wrong with one changes nothing for the others. */
export async function sendMessages(ctx: Context, messages: readonly unknown[]): Promise<BulkResult> {
  // What failed on our side may go well when the same bulk comes again.
  const isFinal = ({ rejected }: BulkResult) => rejected.every(({ code }) => errors[code].status < 500)
  return await writeInPieces(ctx, () => judgeEach(ctx, messages), isFinal)
}

type Refusal = ReturnType<typeof publicFailure>

/** How much a refusal of one message may say, in characters: those of a bulk are held, and answered, together. */
const longestRefusal = 1_000

/** The code and words of an error. The error itself, with its stack, can be collected. */
function refusalOf({ app, requestId }: Context, error: unknown): Refusal {
  if (!codeOf(error)) app.log.error({ err: error, requestId }, 'a message of a bulk was not judged')
  const { code, message } = publicFailure(error)
  if (message.length <= longestRefusal) return { code, message }
  // A slice keeps its whole parent string in memory; a string decoded from bytes does not.
  const beginning = Buffer.from(message.slice(0, longestRefusal)).toString()
  return { code, message: `${beginning}… and more` }
}

/** A message with hundreds of faults takes 0.2 ms to judge; others are served after this many. */
const judgedAtOnce = 50

async function judgeEach(ctx: Context, messages: readonly unknown[]): Promise<BulkResult> {
  const result: BulkResult = { accepted: [], rejected: [] }
  const offers = new Map<number, Offer>()
  const refused = new Map<number, Refusal>()
  for (const [index, message] of messages.entries()) {
    if (index % judgedAtOnce === judgedAtOnce - 1) await ownTurn()
    try {
      offers.set(index, offerOf(memberOf(ctx, index), message))
    } catch (error) {
      refused.set(index, refusalOf(ctx, error))
    }
  }
  // The same bulk may have been cut off after it accepted them.
  const before = await acceptedBefore<Message>([...refused.keys()].map((index) => memberOf(ctx, index)))
  for (const [i, [index, refusal]] of [...refused].entries()) {
    const message = before[i]
    if (message) result.accepted.push({ index, id: message.id })
    else result.rejected.push({ index, ...refusal })
  }
  const indexes = [...offers.keys()]
  for (const [i, answer] of (await acceptMessages(ctx, [...offers.values()])).entries()) {
    // The same bulk is being sent right now.
    if (codeOf(answer)?.startsWith('IDEMPOTENCY_')) throw answer
    const index = indexes[i] as number
    if (answer instanceof Error) result.rejected.push({ index, ...refusalOf(ctx, answer) })
    else result.accepted.push({ index, id: answer.id })
  }
  for (const list of [result.accepted, result.rejected]) list.sort((a, b) => a.index - b.index)
  return result
}

function offerOf(ctx: Context, message: unknown): Offer {
  const scheduled = typeof message === 'object' && message !== null && (message as { scheduledAt?: unknown }).scheduledAt != null
  return scheduled ? scheduledOffer(ctx, message) : instantOffer(ctx, message)
}

/** Each message of a bulk under a key of its own, which no caller can name, so that a repeated bulk sends nothing twice. */
function memberOf(ctx: Context, index: number): Context {
  if (!ctx.idempotency) return ctx
  return { ...ctx, idempotency: { ...ctx.idempotency, key: `${ctx.idempotency.key}\u001f${index}` } }
}

/** Cancels what has not begun to leave, and gives its quota back. @throws NOT_FOUND, INVALID_STATE. */
export async function cancelMessage(ctx: Context, id: string): Promise<Message> {
  return await write(ctx, async (tx) => {
    const { rows } = await tx.query<Message & { period: string | null; ownerId: string }>(
      `select m.*, m."countedPeriod"::text as period, w."ownerId" from messages m join workspaces w on w.id = m."workspaceId"
       where m.id = $1 and m."workspaceId" = $2 for update of m`,
      [id, ctx.principal.workspaceId],
    )
    const found = rows[0] ?? fail('NOT_FOUND', 'Message not found')
    if (found.status !== 'queued') fail('INVALID_STATE', `The message is ${found.status}; only a queued one can be cancelled`)
    if (found.period) await returnQuota(tx, [{ ownerId: found.ownerId, period: found.period }])
    const cancelled = await tx.query<Message>(
      `update messages set status = 'cancelled', "cancelledAt" = now(), "updatedAt" = now(), "countedPeriod" = null, "waitingSince" = null
       where id = $1 returning *`,
      [id],
    )
    if (found.campaignId) await announceChange(tx, subject('campaign', found.campaignId))
    return cancelled.rows[0] as Message
  })
}
