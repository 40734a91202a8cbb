// A message to accept, and the idempotency of accepting it (Idempotency-Key).
import type { App } from '../../core/app.ts'
import type { Idempotency } from '../../core/context.ts'
import type { Sql } from '../../core/database/database.ts'
import type { SqlTx } from '../../core/database/transaction.ts'
import { codeOf, failure } from '../../core/errors.ts'
import { claimKeys, claimOf, keepResults, nameOf, replay } from '../../core/idempotency/idempotency.ts'
import { type KeyClaim, releaseKeys } from '../../core/idempotency/keys.sql.ts'
import type { Principal } from '../../core/principal.ts'
import type { Message } from '../../generated/prisma/client.ts'
import type { MessageFields } from '../input.ts'
import { MustWait } from './look-up.ts'

export interface Submission {
  principal: Principal
  idempotency: Idempotency | null
  input: MessageFields
  /** Null means now. */
  scheduledAt: Date | null
}

/** Result of a further use of a key in one batch, until the first use has committed; then see {@link answerRepeated}. */
type Repeated = 'repeated'
export type Result = Message | Error | Repeated

/** How long a call without `waits` still waits for a key that another transaction has claimed: longer than most take to commit. */
const shortWaitMs = 100

/**
 * Puts the kept results of messages whose key was used before into `results`, and `repeated` for all but the first use of a key in this batch.
 * With `waits`, it waits for a key that another transaction has claimed until the lock timeout of the connection.
 * @throws IDEMPOTENCY_IN_PROGRESS when that wait times out; without `waits`, MustWait after {@link shortWaitMs}.
 */
export async function replayRepeated(
  app: App,
  tx: Sql,
  submissions: readonly Submission[],
  results: (Result | undefined)[],
  waits: boolean,
): Promise<void> {
  const claims = new Map<string, { index: number; claim: KeyClaim }>()
  for (const [index, submission] of submissions.entries()) {
    if (!submission.idempotency) continue
    const claim = claimOf(submission, submission.idempotency)
    const name = nameOf(claim)
    if (claims.has(name)) results[index] = 'repeated'
    else claims.set(name, { index, claim })
  }
  if (claims.size === 0) return
  const list = [...claims.values()]
  const kept = await claimKeys(
    app,
    tx,
    list.map((item) => item.claim),
    waits ? undefined : shortWaitMs,
  ).catch((error: Error) => {
    // PostgreSQL does not say which of the keys it is.
    if (!waits && codeOf(error) === 'IDEMPOTENCY_IN_PROGRESS') throw new MustWait(hasKey)
    throw error
  })
  for (const [i, { index }] of list.entries()) {
    const before = kept[i]
    if (!before) continue
    try {
      results[index] = replay<Message>(submissions[index]?.idempotency as Idempotency, before)
    } catch (error) {
      results[index] = error as Error
    }
  }
}

function hasKey({ idempotency }: { idempotency?: unknown }): boolean {
  return idempotency != null
}

/** Stores the results under their keys, as the last of the transaction that stores the messages. */
export async function storeResults(
  app: App,
  tx: SqlTx,
  submissions: readonly Submission[],
  results: readonly (Result | undefined)[],
): Promise<void> {
  const kept: (KeyClaim & { value: unknown })[] = []
  const refused: KeyClaim[] = []
  for (const [index, submission] of submissions.entries()) {
    const result = results[index]
    if (!submission.idempotency || submission.idempotency.replayed || result === 'repeated') continue
    const claim = claimOf(submission, submission.idempotency)
    if (!(result instanceof Error)) kept.push({ ...claim, value: result })
    // An error of the key itself says that another request has it.
    else if (!codeOf(result)?.startsWith('IDEMPOTENCY_')) refused.push(claim)
  }
  // Releases the keys of refused messages. `keepFailure` in core/idempotency/idempotency.ts decides later which refusals are kept.
  await tx.sendLast((sql) => releaseKeys(sql, refused))
  if (kept.length > 0) await tx.sendLast((sql) => keepResults(app, sql, kept))
}

/**
 * Answers further uses of a key in a batch that has committed, as they would be answered after it: the same request like the first one, another
 * one with IDEMPOTENCY_KEY_REUSED. Another one stays `repeated`, to be tried again, if the first was refused and its key is free.
 */
export function answerRepeated(submissions: readonly Submission[], results: readonly Result[]): Result[] {
  const firsts = new Map<string, { idempotency: Idempotency; claim: KeyClaim; result: Result }>()
  return results.map((result, i) => {
    const submission = submissions[i] as Submission
    const { idempotency } = submission
    if (!idempotency) return result
    const claim = claimOf(submission, idempotency)
    const first = firsts.get(nameOf(claim))
    if (!first) {
      firsts.set(nameOf(claim), { idempotency, claim, result })
      return result
    }
    const isRefused = first.result instanceof Error
    if (!first.claim.fingerprint.equals(claim.fingerprint)) return isRefused ? 'repeated' : failure('IDEMPOTENCY_KEY_REUSED')
    idempotency.replayed = first.idempotency.replayed || !isRefused
    return first.result
  })
}
