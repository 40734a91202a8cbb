// What can be done with messages: send, schedule, send many, cancel.
import { returnQuota } from '../billing/quota.ts'
import type { Context } from '../core/context.ts'
import { codeOf, type ErrorCode, errors, fail } from '../core/errors.ts'
import { write, writeInPieces } from '../core/idempotency.ts'
import { publicFailure } from '../core/public-failure.ts'
import type { Message } from '../generated/prisma/client.ts'
import { acceptMessage } from './accept.ts'
import { ScheduleMessageInput, SendMessageInput } from './input.ts'

/** Sends now. @throws VALIDATION_ERROR, NOT_FOUND, MONTHLY_OUTBOUND_QUOTA_EXCEEDED. */
export async function sendMessage(ctx: Context, input: unknown): Promise<Message> {
  return await acceptMessage(ctx, SendMessageInput.parse(ctx.app.config, input), null)
}

/** Sends at `input.scheduledAt`. @throws as {@link sendMessage}; the quota is asked again when it leaves. */
export async function scheduleMessage(ctx: Context, input: unknown): Promise<Message> {
  const parsed = ScheduleMessageInput.parse(ctx.app.config, input)
  return await acceptMessage(ctx, parsed, new Date(parsed.scheduledAt))
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

async function judgeEach(ctx: Context, messages: readonly unknown[]): Promise<BulkResult> {
  const result: BulkResult = { accepted: [], rejected: [] }
  const answers = await Promise.allSettled(
    messages.map(async (message, index) => {
      const scheduled =
        typeof message === 'object' && message !== null && (message as { scheduledAt?: unknown }).scheduledAt != null
      const member = memberOf(ctx, index)
      return scheduled ? await scheduleMessage(member, message) : await sendMessage(member, message)
    }),
  )
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'fulfilled') result.accepted.push({ index, id: answer.value.id })
    else {
      // The same bulk is being sent right now.
      if (codeOf(answer.reason)?.startsWith('IDEMPOTENCY_')) throw answer.reason
      if (!codeOf(answer.reason))
        ctx.app.log.error({ err: answer.reason, requestId: ctx.requestId }, 'a message of a bulk was not judged')
      result.rejected.push({ index, ...publicFailure(answer.reason) })
    }
  }
  return result
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
    return cancelled.rows[0] as Message
  })
}
