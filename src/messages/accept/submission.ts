// What is offered to be accepted, and how the same offer, under its Idempotency-Key, is answered once and for all.
import type { App } from '../../core/app.ts'
import type { Idempotency, Principal } from '../../core/context.ts'
import type { Sql } from '../../core/database/database.ts'
import { claimKeys, claimOf, type KeyClaim, keepResults, nameOf, replay } from '../../core/idempotency/idempotency.ts'
import type { Message } from '../../generated/prisma/client.ts'
import type { MessageFields } from '../input.ts'

export interface Offer {
  principal: Principal
  idempotency: Idempotency | null
  input: MessageFields
  /** Null means now. */
  scheduledAt: Date | null
}

/** What the second of two equal keys in one flush is told: ask again, the first will have committed. */
type Again = 'again'
export type Answer = Message | Error | Again

/**
 * Answers the offers whose key was used before, and sends back all but the first of a key in this flush. A key that somebody
 * holds is waited for as long as for any lock, or `keyWaitMs`. @throws IDEMPOTENCY_IN_PROGRESS when the wait ends.
 */
export async function answerRepeated(
  app: App,
  tx: Sql,
  offers: readonly Offer[],
  answers: (Answer | undefined)[],
  keyWaitMs?: number,
): Promise<void> {
  const claims = new Map<string, { index: number; claim: KeyClaim }>()
  for (const [index, offer] of offers.entries()) {
    if (!offer.idempotency) continue
    const claim = claimOf(offer, offer.idempotency)
    const name = nameOf(claim)
    if (claims.has(name)) answers[index] = 'again'
    else claims.set(name, { index, claim })
  }
  if (claims.size === 0) return
  const list = [...claims.values()]
  if (keyWaitMs) await tx.query(`set local lock_timeout = ${keyWaitMs}`)
  const kept = await claimKeys(
    app,
    tx,
    list.map((item) => item.claim),
  )
  if (keyWaitMs) await tx.query('set local lock_timeout to default')
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

/** Keeps the answers to offers with a key, in the transaction that makes them. */
export async function keepAnswers(
  app: App,
  tx: Sql,
  offers: readonly Offer[],
  answers: readonly (Answer | undefined)[],
): Promise<void> {
  const results: (KeyClaim & { value: unknown })[] = []
  const refused: KeyClaim[] = []
  for (const [index, offer] of offers.entries()) {
    const answer = answers[index]
    if (!offer.idempotency || offer.idempotency.replayed || answer === 'again') continue
    const claim = claimOf(offer, offer.idempotency)
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
