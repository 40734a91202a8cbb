// Accepts messages by group commit. Words of this folder:
//   submission  a validated message that a caller wants to send
//   batch       the submissions of one transaction
//   records     the rows that a batch names: instances, contacts, templates
//   draft       a submission with its text composed, before it has quota
//   result      the stored message, the error, or `repeated`: the key was used earlier in the same batch

import { type QuotaRequest, quotaRefusals, reserveAhead, reservePlanned, type Turn } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import { createBatch, runApartOnFailure } from '../../core/batch.ts'
import type { Context } from '../../core/context.ts'
import type { Sql } from '../../core/database/database.ts'
import { type SqlTx, sqlTransaction } from '../../core/database/transaction.ts'
import { codeOf } from '../../core/errors.ts'
import { withoutBudget } from '../../core/graph/budget.ts'
import { definePart } from '../../core/part.ts'
import { isRefusedByDatabase } from '../../core/public-failure.ts'
import { createShare } from '../../core/share.ts'
import { emit } from '../../events/log/emit.ts'
import type { Message } from '../../generated/prisma/client.ts'
import { largeBulk } from '../dispatch/dispatch-job.ts'
import { jobsOfNew } from '../dispatch/enqueue-new.ts'
import { messageEvent } from '../events.ts'
import { markOutsideWindow } from '../safety/free-window.ts'
import { type Judged, safetyCache } from '../safety/safety.ts'
import { type Draft, draftAll } from './draft.ts'
import { insertMessages } from './insert.sql.ts'
import { lookUp, MustWait } from './look-up.ts'
import { composeRows } from './rows.ts'
import { answerRepeated, type Result, replayRepeated, type Submission, storeResults } from './submission.ts'

/** Answers each message, in order. The messages of one call share one transaction, so none overtakes another. */
type Accept = (submissions: readonly Submission[]) => Promise<readonly Result[]>

const acceptance = definePart(createAcceptance)

function createAcceptance(app: App): Accept {
  // A call that must wait for another transaction is refused with `MustWait`, and the others are accepted without it.
  const acceptCalls = async (calls: readonly (readonly Submission[])[]): Promise<(readonly Result[] | Error)[]> => {
    try {
      const results = await acceptAll(app, calls.flat(), { waits: false, inBulk: false })
      return calls.map(({ length }) => results.splice(0, length))
    } catch (error) {
      if (!(error instanceof MustWait)) throw error
      const others = calls.filter((call) => !call.some(error.mustWait))
      const accepted = others.length > 0 ? await acceptCalls(others) : []
      return calls.map((call) => (call.some(error.mustWait) ? error : (accepted.shift() as readonly Result[])))
    }
  }
  // A message that the database refuses fails alone, and not the others that came at the same moment. After any other failure they may be
  // stored already.
  const run = (calls: readonly (readonly Submission[])[]) => runApartOnFailure(calls, acceptCalls, isRefusedByDatabase)
  const alone = createBatch<readonly Submission[], readonly Result[]>({ max: 200, parallel: 2, slowMs: 100, run })
  // Each bulk is a batch of its own, which bounds the size of a transaction. Payers take turns: behind bulks of 1,000 that another account
  // sent at once, as many as its memory allows, one of 2 messages waited for 1 to 2.5 s, and for 0.1 s in turns.
  const bulks = createShare({ perCaller: 2, total: 4, mostWaiting: 1_000, waitMs: 30_000 })
  const many = (submissions: readonly Submission[]) =>
    bulks.during((submissions[0] as Submission).principal.ownerId, 1, () =>
      withoutBudget(() => acceptAll(app, submissions, { waits: false, inBulk: submissions.length > largeBulk })),
    )
  return async (submissions) => {
    try {
      return await (submissions.length > 1 ? many : alone)(submissions)
    } catch (error) {
      if (error instanceof MustWait) return await acceptAfterWait(app, submissions)
      throw error
    }
  }
}

/**
 * Accepts one message. It is durable when this resolves, and is sent right after.
 * @throws NOT_FOUND when the instance, contact or template does not exist in the workspace; also template, quota and idempotency errors.
 */
export async function acceptMessage(ctx: Context, submission: Submission): Promise<Message> {
  const [result] = await acceptMessages(ctx, [submission])
  if (result instanceof Error) throw result
  return result as Message
}

/** Accepts messages in order, each accepted or refused separately. @throws when the whole batch failed. */
export async function acceptMessages(
  { app, principal }: Context,
  submissions: readonly Submission[],
): Promise<(Message | Error)[]> {
  if (submissions.length === 0) return []
  await safetyCache(app).prepare(submissions.map(judgedOf), principal.ownerId)
  const results = await acceptance(app)(submissions)
  const final: (Message | Error)[] = []
  // One after the other: together they would all be in each batch until it is their turn.
  for (const [i, result] of results.entries()) {
    final.push(result === 'repeated' ? await acceptRepeated(app, submissions[i] as Submission) : result)
  }
  await app.failpoint('api.after_commit_before_reply')
  return final
}

async function acceptRepeated(app: App, submission: Submission): Promise<Message | Error> {
  for (;;) {
    const [result] = await acceptance(app)([submission])
    if (result !== 'repeated') return result as Message | Error
  }
}

/** Accepts messages in a transaction of their own, on one of the few connections that each caller has (core/database/database.ts). */
async function acceptAfterWait(app: App, submissions: readonly Submission[]): Promise<Result[]> {
  return await acceptAll(app, submissions, { waits: true, inBulk: submissions.length > largeBulk }).catch((error: Error) => {
    if (codeOf(error) !== 'IDEMPOTENCY_IN_PROGRESS') throw error
    return submissions.map(() => error)
  })
}

/**
 * Accepts one batch: replays repeated requests; looks up the records that are named and takes quota, in one round trip; drafts; gives back the
 * quota of refused ones; stores the messages and keeps the results, in the round trip of the commit.
 * `inBulk`: they are one large bulk.
 * @throws MustWait in place of a wait for another transaction, unless it `waits`.
 */
async function acceptAll(
  app: App,
  submissions: readonly Submission[],
  { waits, inBulk }: { waits: boolean; inBulk: boolean },
): Promise<Result[]> {
  app.metrics.batchSize.observe({ batch: 'accept' }, submissions.length)
  await safetyCache(app).load(submissions.map(judgedOf))
  const all = await sqlTransaction(app.pool, async (tx) => {
    const results: (Result | undefined)[] = submissions.map(() => undefined)
    await replayRepeated(app, tx, submissions, results, waits)
    const open = submissions.filter((_, i) => results[i] === undefined)
    const [records, assign] = await Promise.all([lookUp(app, tx, submissions, waits), reserveAhead(tx, open.map(quotaRequest))])
    const drafts = draftAll(app, submissions, results, records)
    const turns = await assign(drafts.map(({ submission }) => quotaRequest(submission)))
    const accepted = await refuseWithoutQuota(tx, drafts, turns, results)
    await store(app, tx, accepted, results, inBulk)
    await storeResults(app, tx, submissions, results)
    return results as Result[]
  })
  // Messages that are due leave at once, which wakes the relay for all of their events.
  if (submissions.some(({ scheduledAt }) => scheduledAt)) app.signals.emit('outbox')
  return all.includes('repeated') ? answerRepeated(submissions, all) : all
}

function judgedOf({ input: { instanceId, to }, scheduledAt }: Submission): Judged {
  return { instanceId, to, scheduledAt }
}

/** A message that has quota. */
interface Accepted extends Draft {
  /** Orders it among the messages of its owner: they commit in the order of these times. */
  createdAt: Date
}

function quotaRequest({ principal: { ownerId, plan }, scheduledAt }: Submission): QuotaRequest {
  return { ownerId, plan, counts: scheduledAt === null }
}

/** Puts the refusals of drafts without quota into `results`. Returns the drafts that have quota, also that of scheduled messages. */
async function refuseWithoutQuota(
  tx: Sql,
  drafts: readonly Draft[],
  turns: readonly Turn[],
  results: (Result | undefined)[],
): Promise<Accepted[]> {
  const plans = drafts.map(({ submission }, i) => ({
    ...submission.principal,
    n: turns[i]?.fits && submission.scheduledAt ? 1 : 0,
  }))
  const planned = await reservePlanned(tx, plans)
  const without = drafts.filter((_, i) => !turns[i]?.fits || !planned[i]).map(({ submission }) => submission.principal.ownerId)
  const refusalsOf = await quotaRefusals(tx, [...new Set(without)])
  return drafts.flatMap((draft, i) => {
    const turn = turns[i]
    const { ownerId, plan } = draft.submission.principal
    if (!turn?.fits) results[draft.index] = refusalsOf(ownerId).usedUp()
    else if (!planned[i]) results[draft.index] = refusalsOf(ownerId).tooMuchPlanned(plan)
    else return [{ ...draft, createdAt: turn.at }]
    return []
  })
}

/** Inserts the messages with their dispatch jobs and events, and puts them into `results`. */
async function store(
  app: App,
  tx: SqlTx,
  drafts: readonly Accepted[],
  results: (Result | undefined)[],
  inBulk: boolean,
): Promise<void> {
  const messages = composeRows(app, await markOutsideWindow(app, tx, drafts))
  for (const [i, message] of messages.entries()) results[(drafts[i] as Draft).index] = message
  const holders = drafts.map(({ instance }) => instance.holder)
  const events = messages.map((message) => messageEvent(message, 'queued', message.createdAt))
  await Promise.all([
    tx.sendLast((sql) => insertMessages(sql, messages)),
    tx.sendLast((sql) => emit(sql, events)),
    ...jobsOfNew(app, messages, holders, inBulk).map(tx.sendLast),
  ])
}
