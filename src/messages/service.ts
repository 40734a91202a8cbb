// The operations on messages: send, schedule, send in bulk, cancel.
import { returnQuota } from '../billing/admission/quota.ts'
import type { Context } from '../core/context.ts'
import type { Db } from '../core/database/database.ts'
import { codeOf, type ErrorCode, errors, fail } from '../core/errors.ts'
import { acceptedBefore, keyed, replayIfInvalid, write, writeInPieces } from '../core/idempotency/idempotency.ts'
import { publicFailure } from '../core/public-failure.ts'
import { ownTurn } from '../core/turns.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import { emit } from '../events/log/emit.ts'
import type { Message } from '../generated/prisma/client.ts'
import { acceptMessage, acceptMessages } from './accept/accept.ts'
import { type MessagePreview, previewSubmission } from './accept/preview.ts'
import type { Submission } from './accept/submission.ts'
import { lockMessage, storeCancelled } from './cancel.sql.ts'
import { dropExpiries } from './dispatch/dispatch-job.ts'
import { messageEvent } from './events.ts'
import { ScheduleMessageInput, SendMessageInput } from './input.ts'
import { safetyCache } from './safety/safety.ts'

/**
 * Sends a message now.
 * @throws VALIDATION_ERROR when the input is invalid.
 * @throws NOT_FOUND when the instance, contact or template does not exist in the workspace.
 * @throws TEMPLATE_INVALID when the template cannot be filled in.
 * @throws MONTHLY_OUTBOUND_QUOTA_EXCEEDED when no quota is left.
 */
export async function sendMessage(ctx: Context, input: unknown): Promise<Message> {
  return await acceptMessage(ctx, instantSubmission(ctx, input))
}

/**
 * Schedules a message for `input.scheduledAt`. Some quota must be left; the message takes its part of it when it is sent.
 * @throws as {@link sendMessage}, also when too many messages are planned this month.
 */
export async function scheduleMessage(ctx: Context, input: unknown): Promise<Message> {
  return await replayIfInvalid(ctx, async () => await acceptMessage(ctx, scheduledSubmission(ctx, input)))
}

/**
 * Tells what {@link sendMessage}, or with a time {@link scheduleMessage}, would do. Nothing is stored.
 * @throws what they would throw.
 */
export async function previewMessage(ctx: Context, input: object, scheduledAt: string | null): Promise<MessagePreview> {
  return await previewSubmission(ctx.app, submissionOf(ctx, { ...input, scheduledAt }))
}

/** The name that a validation error gives to a bulk item that is not an object. */
const whole = 'message'

function instantSubmission({ app, principal, idempotency }: Context, input: unknown): Submission {
  return { principal, idempotency, input: SendMessageInput.parse(app.config, input, whole), scheduledAt: null }
}

function scheduledSubmission({ app, principal, idempotency }: Context, input: unknown): Submission {
  const parsed = ScheduleMessageInput.parse(app.config, input, whole)
  return { principal, idempotency, input: parsed, scheduledAt: new Date(parsed.scheduledAt) }
}

export interface BulkResult {
  accepted: { index: number; id: string }[]
  rejected: { index: number; code: ErrorCode; message: string }[]
}

/** Sends or schedules each message. A refused message does not affect the others. */
export async function sendMessages(ctx: Context, messages: readonly unknown[]): Promise<BulkResult> {
  // A server error (5xx) may not recur, so its result is not kept under the Idempotency-Key and the same bulk can be retried.
  const isFinal = ({ rejected }: BulkResult) => rejected.every(({ code }) => errors[code].status < 500)
  return await writeInPieces(ctx, () => acceptEach(ctx, messages), isFinal)
}

type Refusal = ReturnType<typeof publicFailure>

/** Longest error message of one bulk item, in characters. All errors of a bulk are in memory, and in the answer, at the same time. */
const longestRefusal = 1_000

/** Reduces an error to its code and message, so that the error and its stack can be garbage collected. */
function refusalOf({ app, requestId }: Context, error: unknown): Refusal {
  if (!codeOf(error)) app.log.error({ err: error, requestId }, 'a message of a bulk request failed unexpectedly')
  const { code, message } = publicFailure(error)
  if (message.length <= longestRefusal) return { code, message }
  // V8 keeps the whole parent string of a slice in memory. A string decoded from bytes has no parent.
  const beginning = Buffer.from(message.slice(0, longestRefusal)).toString()
  return { code, message: `${beginning}… and more` }
}

/** Messages processed per turn of the event loop. A message with hundreds of faults takes 0.2 ms, so other requests wait about 10 ms. */
const messagesPerTurn = 50

async function acceptEach(ctx: Context, messages: readonly unknown[]): Promise<BulkResult> {
  const { submissions, refused } = await validateEach(ctx, messages)
  const result: BulkResult = { accepted: [], rejected: [] }
  // They may have been accepted before, when their times were in the future: under keys of their own, or by a run of this bulk that was interrupted.
  const before = await acceptedBefore<Message>(refused.map(({ request }) => request))
  for (const [i, { index, refusal }] of refused.entries()) {
    const message = before[i]
    if (message) result.accepted.push({ index, id: message.id })
    else result.rejected.push({ index, ...refusal })
  }
  const answers = await acceptMessages(ctx, [...submissions.values()])
  for (const [i, index] of [...submissions.keys()].entries()) {
    const answer = answers[i] as Message | Error
    // Another request is sending the same bulk at this moment.
    if (ctx.idempotency && codeOf(answer)?.startsWith('IDEMPOTENCY_')) throw answer
    if (answer instanceof Error) result.rejected.push({ index, ...refusalOf(ctx, answer) })
    else result.accepted.push({ index, id: answer.id })
  }
  for (const list of [result.accepted, result.rejected]) list.sort((a, b) => a.index - b.index)
  return result
}

interface Validated {
  /** By position in the bulk. */
  submissions: Map<number, Submission>
  refused: { index: number; request: Context; refusal: Refusal }[]
}

async function validateEach(ctx: Context, messages: readonly unknown[]): Promise<Validated> {
  const validated: Validated = { submissions: new Map(), refused: [] }
  for (const [index, message] of messages.entries()) {
    if (index % messagesPerTurn === messagesPerTurn - 1) await ownTurn()
    let request = memberOf(ctx, index)
    try {
      if (!ctx.idempotency) request = withOwnKey(ctx, message)
      validated.submissions.set(index, submissionOf(request, message))
    } catch (error) {
      validated.refused.push({ index, request, refusal: refusalOf(ctx, error) })
    }
  }
  return validated
}

/** Uses the key of a single message as its own mutation does. @throws VALIDATION_ERROR when it is malformed. */
function withOwnKey(ctx: Context, message: unknown): Context {
  const key = typeof message === 'object' && message !== null && (message as { idempotencyKey?: unknown }).idempotencyKey
  if (typeof key !== 'string') return ctx
  return keyed({ ...ctx }, isScheduled(message) ? 'scheduleMessage' : 'sendMessage', {
    ...(message as object),
    idempotencyKey: key,
  })
}

function isScheduled(message: unknown): boolean {
  return typeof message === 'object' && message !== null && (message as { scheduledAt?: unknown }).scheduledAt != null
}

function submissionOf(ctx: Context, message: unknown): Submission {
  return isScheduled(message) ? scheduledSubmission(ctx, message) : instantSubmission(ctx, message)
}

/**
 * Gives each message of a bulk its own idempotency key, so that a repeated bulk sends nothing twice. Callers cannot use such a key, because
 * it contains a control character.
 */
function memberOf(ctx: Context, index: number): Context {
  if (!ctx.idempotency) return ctx
  return { ...ctx, idempotency: { ...ctx.idempotency, key: `${ctx.idempotency.key}\u001f${index}` } }
}

/**
 * Cancels a queued message and returns its quota.
 * @throws NOT_FOUND when the workspace has no such message.
 * @throws INVALID_STATE when the message is not `queued`.
 */
export async function cancelMessage(ctx: Context, id: string): Promise<Message> {
  const cancelled = await write(ctx, async (tx) => {
    const found = (await lockMessage(tx, ctx.principal.workspaceId, id)) ?? fail('NOT_FOUND', 'Message not found')
    if (found.status !== 'queued') fail('INVALID_STATE', `The message is ${found.status}; only a queued message can be cancelled`)
    await returnQuota(tx, [found])
    if (found.campaignId) await announceChange(tx, subject('campaign', found.campaignId))
    const stored = await storeCancelled(tx, id)
    await dropExpiries(ctx.app, tx, [{ ...found, waiting: found.waitingSince !== null }])
    await emit(tx, [messageEvent(stored, 'cancelled', stored.updatedAt)])
    return stored
  })
  safetyCache(ctx.app).forget(cancelled.instanceId)
  return cancelled
}

/** @throws NOT_FOUND when the workspace has no such message. */
export async function checkMessage(db: Db, workspaceId: string, id: string): Promise<void> {
  if (!(await db.message.findFirst({ where: { id, workspaceId }, select: { id: true } }))) fail('NOT_FOUND', 'Message not found')
}
