// Writes that depend on a call to an external service: the Idempotency-Key is claimed before the call, and the result stored after it.
import type { App } from '../app.ts'
import type { Context } from '../context.ts'
import { sqlTransaction, type Tx, transaction } from '../database/transaction.ts'
import { codeOf, errors, fail } from '../errors.ts'
import { claimKeys, claimOf, isOpen, type Kept, keepResults, replay } from './idempotency.ts'
import { deleteClaim, expireClaim, type KeyClaim, renewClaim } from './keys.sql.ts'

/** A request without a result counts as running for this long; an older one was interrupted. */
const atWorkSeconds = 60

interface Taken {
  /** Time of the claim, a fencing token against later requests with the same key; null if this request does not hold the key. */
  at: Date | null
  /** Result stored under the key, or an Error why it cannot be claimed. */
  kept: Kept | Error | null
  /** True if the same request claimed the key before and its outcome is unknown. */
  wasCutOff: boolean
}

/**
 * Calls `call`, then runs `work` in one transaction. If the Idempotency-Key has a stored result, returns it without either call.
 * `call` runs outside of any transaction and must do no harm if nothing follows here. Its argument is true if the same request was
 * interrupted before, and may have reached the external service.
 * @throws IDEMPOTENCY_IN_PROGRESS when the same request is still running.
 */
export async function writeAfter<Result, T>(
  ctx: Context,
  call: (wasCutOff: boolean) => Promise<Result>,
  work: (tx: Tx, result: Result) => Promise<T>,
): Promise<T> {
  const { app, idempotency } = ctx
  if (!idempotency) {
    const result = await call(false)
    return await transaction(app.db, (tx) => work(tx, result))
  }
  const claim = claimOf(ctx, idempotency)
  const { at, kept, wasCutOff } = await take(app, claim)
  if (!at) return replay<T>(idempotency, kept ?? fail('IDEMPOTENCY_IN_PROGRESS'))
  try {
    const result = await call(wasCutOff)
    return await transaction(app.db, async (tx) => {
      const [before] = await claimKeys(app, tx, [claim])
      if (before && !isOpen(before)) return replay<T>(idempotency, before)
      const value = await work(tx, result)
      await keepResults(app, tx, [{ ...claim, value }])
      return value
    })
  } catch (error) {
    await giveBack(app, claim, at, error)
    throw error
  }
}

/** Claims the key if it is free, expired, or held by a request that was interrupted. */
async function take(app: App, claim: KeyClaim): Promise<Taken> {
  return await sqlTransaction(app.pool, async (tx) => {
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept && !isOpen(kept)) return { at: null, kept, wasCutOff: false }
    const at = await renewClaim(tx, claim, kept === null, atWorkSeconds)
    return { at, kept: kept ?? null, wasCutOff: kept !== null }
  })
}

/**
 * Releases the key of a failed request. If the failure is a final answer, the claim is deleted. Otherwise the same request may
 * claim the key again at once, and learns that it was interrupted.
 */
async function giveBack(app: App, claim: KeyClaim, at: Date, error: unknown): Promise<void> {
  const code = codeOf(error)
  const isAnswer = code !== null && errors[code].status < 500 && !code.startsWith('IDEMPOTENCY_')
  const release = isAnswer ? deleteClaim(app.pool, claim, at) : expireClaim(app.pool, claim, at, atWorkSeconds)
  await release.catch((err: unknown) => app.log.warn({ err }, 'an Idempotency-Key stays claimed until its lease expires'))
}
