// Acceptance: one transaction a flush reserves quota, stores messages and their jobs; nothing is answered before it commits.
import { reserveQuota } from '../billing/quota.ts'
import type { App } from '../core/app.ts'
import { createBatch } from '../core/batch.ts'
import type { Context, Idempotency, Principal } from '../core/context.ts'
import { type Sql, transaction } from '../core/database.ts'
import { codeOf, failure } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { claimKeys, type KeyClaim, keepResults, nameOf, replay } from '../core/idempotency.ts'
import type { Message } from '../generated/prisma/client.ts'
import { compose, fillTemplate } from './compose.ts'
import { dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import type { MessageFields } from './input.ts'
import { composeRows, insertMessages, type NewMessage } from './insert.ts'
import { type Found, lookUp } from './look-up.ts'

export interface Offer {
  principal: Principal
  idempotency: Idempotency | null
  input: MessageFields
  /** Null means now. */
  scheduledAt: Date | null
}

declare module '../core/app.ts' {
  interface App {
    /** Answers each, in order; all of one call are accepted in one transaction, so that none overtakes another. */
    accept: (offers: readonly Offer[]) => Promise<readonly Answer[]>
  }
}

/** What the second of two equal keys in one flush is told: ask again, the first will have committed. */
type Again = 'again'
type Answer = Message | Error | Again

export function createAcceptance(app: App): App['accept'] {
  return createBatch<readonly Offer[], readonly Answer[]>({
    max: 200,
    parallel: 2,
    run: async (calls) => {
      const offers = calls.flat()
      app.metrics.batchSize.observe({ batch: 'accept' }, offers.length)
      const answers = await acceptApart(app, offers)
      let taken = 0
      return calls.map(({ length }) => {
        taken += length
        return answers.slice(taken - length, taken)
      })
    },
  })
}

/** Accepts one message: durable when this answers, on its way right after. @throws NOT_FOUND, quota and idempotency failures. */
export async function acceptMessage(ctx: Context, offer: Offer): Promise<Message> {
  const [answer] = await acceptMessages(ctx, [offer])
  if (answer instanceof Error) throw answer
  return answer as Message
}

/** Accepts messages in their order, each judged alone. @throws when none could be judged. */
export async function acceptMessages({ app }: Context, offers: readonly Offer[]): Promise<(Message | Error)[]> {
  if (offers.length === 0) return []
  const answers = await app.accept(offers)
  const final = await Promise.all(
    answers.map((answer, i) => (answer === 'again' ? acceptAgain(app, offers[i] as Offer) : answer)),
  )
  await app.failpoint('api.after_commit_before_reply')
  return final
}

async function acceptAgain(app: App, offer: Offer): Promise<Message | Error> {
  for (;;) {
    const [answer] = await app.accept([offer])
    if (answer !== 'again') return answer as Message | Error
  }
}

/** Accepts all at once; where somebody holds a key for so long that the wait for it ends, only its own messages are refused. */
async function acceptApart(app: App, offers: readonly Offer[]): Promise<Answer[]> {
  try {
    return await acceptAll(app, offers)
  } catch (error) {
    if (codeOf(error) !== 'IDEMPOTENCY_IN_PROGRESS') throw error
    const free = offers.filter((offer) => !offer.idempotency)
    const accepted = free.length > 0 ? await acceptAll(app, free) : []
    return offers.map((offer) => (offer.idempotency ? (error as Error) : (accepted[free.indexOf(offer)] as Answer)))
  }
}

async function acceptAll(app: App, offers: readonly Offer[]): Promise<Answer[]> {
  await app.safety.load(offers.map((offer) => ({ instanceId: offer.input.instanceId, to: offer.input.to })))
  return await transaction(app.pool, async (tx) => {
    const answers: (Answer | undefined)[] = offers.map(() => undefined)
    await answerRepeated(app, tx, offers, answers)
    const found = await lookUp(tx, offers)
    const drafts = draft(offers, answers, found)
    const granted = await reserveQuota(
      tx,
      drafts.map(({ offer }) => ({ ...offer.principal, counts: offer.scheduledAt === null })),
    )
    const accepted = drafts.filter((item, i) => {
      if (!granted[i]) answers[item.index] = failure('MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
      return granted[i]
    })
    const messages = composeRows(app, accepted, found.now)
    for (const [i, message] of messages.entries()) answers[(accepted[i] as Draft).index] = message
    await Promise.all([
      insertMessages(tx, messages),
      enqueueDispatch(
        app,
        tx,
        messages.map((message) => dispatchRequest(message, message.scheduledAt ?? undefined)),
      ),
    ])
    await keepAnswers(app, tx, offers, answers)
    return answers as Answer[]
  })
}

function claimOf(offer: Offer): KeyClaim | null {
  return offer.idempotency && { workspaceId: offer.principal.workspaceId, ...offer.idempotency }
}

/** Answers the offers whose key was used before, and sends back all but the first of a key in this flush. */
async function answerRepeated(app: App, tx: Sql, offers: readonly Offer[], answers: (Answer | undefined)[]): Promise<void> {
  const claims = new Map<string, { index: number; claim: KeyClaim }>()
  for (const [index, offer] of offers.entries()) {
    const claim = claimOf(offer)
    if (!claim) continue
    const name = nameOf(claim)
    if (claims.has(name)) answers[index] = 'again'
    else claims.set(name, { index, claim })
  }
  if (claims.size === 0) return
  const list = [...claims.values()]
  const kept = await claimKeys(
    app,
    tx,
    list.map((item) => item.claim),
  )
  for (const [i, { index }] of list.entries()) {
    const before = kept[i]
    if (!before) continue
    try {
      answers[index] = replay<Message>(offers[index]?.idempotency as Idempotency, before)
    } catch (error) {
      answers[index] = error as Error
    }
  }
}

async function keepAnswers(app: App, tx: Sql, offers: readonly Offer[], answers: readonly (Answer | undefined)[]): Promise<void> {
  const results: (KeyClaim & { value: unknown })[] = []
  const refused: KeyClaim[] = []
  for (const [index, offer] of offers.entries()) {
    const claim = claimOf(offer)
    const answer = answers[index]
    if (!claim || offer.idempotency?.replayed || answer === 'again') continue
    if (answer instanceof Error) refused.push(claim)
    else results.push({ ...claim, value: answer })
  }
  // A refusal frees its key here; whether it is kept is decided where all refusals are (core/idempotency.ts).
  if (refused.length > 0) {
    await tx.query(
      `delete from idempotency_keys k using unnest($1::uuid[], $2::text[]) as u(w, key)
       where k."workspaceId" = u.w and k.key = u.key and k.result is null`,
      [refused.map((claim) => claim.workspaceId), refused.map((claim) => claim.key)],
    )
  }
  if (results.length > 0) await keepResults(app, tx, results)
}

export interface Draft extends NewMessage {
  index: number
  offer: Offer
}

function draft(offers: readonly Offer[], answers: (Answer | undefined)[], found: Found): Draft[] {
  const drafts: Draft[] = []
  for (const [index, offer] of offers.entries()) {
    if (answers[index] !== undefined) continue
    const { input, principal, scheduledAt } = offer
    const instance = found.instance(offer)
    const contact = found.contact(offer)
    try {
      if (!instance) throw failure('NOT_FOUND', 'Instance not found')
      const composed = input.templateId == null ? compose(input, contact) : fillTemplate(input, contact, found.template(offer))
      drafts.push({ index, offer, id: newId(), principal, instance, to: input.to, scheduledAt, campaignId: null, ...composed })
    } catch (error) {
      answers[index] = error as Error
    }
  }
  return drafts
}
