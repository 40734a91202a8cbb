// Acceptance: one transaction a flush reserves quota, stores messages and their jobs; nothing is answered before it commits.
import { reservePlanned, reserveQuota, tooMuchPlanned } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import type { Context } from '../../core/context.ts'
import { transaction } from '../../core/database/database.ts'
import { codeOf, failure } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import type { Message } from '../../generated/prisma/client.ts'
import { dispatchRequest, enqueueDispatch } from '../dispatch/dispatch-job.ts'
import { type Found, lookUp } from '../dispatch/look-up.ts'
import { compose, fillTemplate } from './compose.ts'
import { composeRows, insertMessages, type NewMessage } from './insert.ts'
import { type Answer, answerRepeated, keepAnswers, type Offer } from './offer.ts'

declare module '../../core/app.ts' {
  interface App {
    /** Answers each, in order; all of one call are accepted in one transaction, so that none overtakes another. */
    accept: (offers: readonly Offer[]) => Promise<readonly Answer[]>
  }
}

export function createAcceptance(app: App): App['accept'] {
  const run = async (calls: readonly (readonly Offer[])[]) => {
    const offers = calls.flat()
    app.metrics.batchSize.observe({ batch: 'accept' }, offers.length)
    const answers = await acceptApart(app, offers)
    let taken = 0
    return calls.map(({ length }) => {
      taken += length
      return answers.slice(taken - length, taken)
    })
  }
  const alone = createBatch<readonly Offer[], readonly Answer[]>({ max: 200, parallel: 2, run })
  // A bulk is a flush of its own: no transaction grows with how many come at once, and nobody waits for the bulk of others.
  const many = createBatch<readonly Offer[], readonly Answer[]>({ max: 1, parallel: 2, run })
  return (offers) => (offers.length > 1 ? many : alone)(offers)
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

/** Milliseconds for a key that was waited for before. */
const secondWaitMs = 500

/** Accepts all at once; where somebody holds a key for so long that the wait for it ends, only its workspace's are refused. */
async function acceptApart(app: App, offers: readonly Offer[]): Promise<Answer[]> {
  try {
    return await acceptAll(app, offers)
  } catch (error) {
    const apart = Map.groupBy(offers, ({ principal, idempotency }) => (idempotency ? principal.workspaceId : null))
    if (codeOf(error) !== 'IDEMPOTENCY_IN_PROGRESS' || apart.size === 1) throw error
    const answers = new Map<Offer, Answer>()
    const accept = async (group: readonly Offer[]) => {
      const judged = await acceptAll(app, group, secondWaitMs).catch((fault: Error) => group.map(() => fault))
      for (const [i, offer] of group.entries()) answers.set(offer, judged[i] as Answer)
    }
    await Promise.all([...apart.values()].map(accept))
    return offers.map((offer) => answers.get(offer) as Answer)
  }
}

async function acceptAll(app: App, offers: readonly Offer[], keyWaitMs?: number): Promise<Answer[]> {
  await app.safety.load(offers.map((offer) => ({ instanceId: offer.input.instanceId, to: offer.input.to })))
  return await transaction(app.pool, async (tx) => {
    const answers: (Answer | undefined)[] = offers.map(() => undefined)
    await answerRepeated(app, tx, offers, answers, keyWaitMs)
    const found = await lookUp(tx, offers)
    const drafts = draft(offers, answers, found)
    const granted = await reserveQuota(
      tx,
      drafts.map(({ offer }) => ({ ...offer.principal, counts: offer.scheduledAt === null })),
    )
    const planned = await reservePlanned(
      tx,
      drafts.map(({ offer }, i) => ({ ...offer.principal, n: granted[i] && offer.scheduledAt ? 1 : 0 })),
    )
    const accepted = drafts.filter((item, i) => {
      if (!granted[i]) answers[item.index] = failure('MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
      else if (!planned[i]) answers[item.index] = tooMuchPlanned(item.offer.principal.plan)
      return granted[i] && planned[i]
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
