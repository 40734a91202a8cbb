// A write that somebody outside has to be asked about before: its Idempotency-Key is taken first, and answered last.
import type { App } from '../app.ts'
import type { Context } from '../context.ts'
import { type Sql, transaction } from '../database/database.ts'
import { codeOf, errors, fail } from '../errors.ts'
import { claimKeys, claimOf, isOpen, type Kept, type KeyClaim, keepResults, replay } from './idempotency.ts'

/** For how long a request that has no answer yet is taken to be at work; what is older was cut off. */
const atWorkSeconds = 60

interface Taken {
  /** When, which tells this request from a later one with the key; null where the key is not ours. */
  at: Date | null
  /** What the key stands for already, or why it cannot be had. */
  kept: Kept | Error | null
  /** Whether a request just like this one took it before, and what came of that is not known. */
  wasCutOff: boolean
}

/**
 * Asks, and writes what follows in one transaction, or answers what was answered before under the same Idempotency-Key:
 * then nobody is asked. `ask` runs in no transaction; what it does must do no harm if nothing comes of it here. It is told
 * whether the same request was cut off before, and may have been heard outside.
 * @throws IDEMPOTENCY_IN_PROGRESS while the same request is at work.
 */
export async function writeAfter<Asked, T>(
  ctx: Context,
  ask: (wasCutOff: boolean) => Promise<Asked>,
  work: (tx: Sql, asked: Asked) => Promise<T>,
): Promise<T> {
  const { app, idempotency } = ctx
  if (!idempotency) {
    const asked = await ask(false)
    return await transaction(app.pool, (tx) => work(tx, asked))
  }
  const claim = claimOf(ctx, idempotency)
  const { at, kept, wasCutOff } = await take(app, claim)
  if (!at) return replay<T>(idempotency, kept ?? fail('IDEMPOTENCY_IN_PROGRESS'))
  try {
    const asked = await ask(wasCutOff)
    return await transaction(app.pool, async (tx) => {
      const [before] = await claimKeys(app, tx, [claim])
      if (before && !isOpen(before)) return replay<T>(idempotency, before)
      const value = await work(tx, asked)
      await keepResults(app, tx, [{ ...claim, value }])
      return value
    })
  } catch (error) {
    await giveBack(app, claim, at, error)
    throw error
  }
}

/** Takes the key: one that nobody has, one that is too old, or one whose request was cut off. */
async function take(app: App, claim: KeyClaim): Promise<Taken> {
  return await transaction(app.pool, async (tx) => {
    const names = [claim.workspaceId, claim.key]
    const [kept] = await claimKeys(app, tx, [claim])
    if (kept && !isOpen(kept)) return { at: null, kept, wasCutOff: false }
    const { rows } = await tx.query<{ createdAt: Date }>(
      `update idempotency_keys set "createdAt" = now() where "workspaceId" = $1 and key = $2 and result is null
         and ($3 or "createdAt" <= now() - make_interval(secs => $4)) returning "createdAt"`,
      [...names, kept === null, atWorkSeconds],
    )
    return { at: rows[0]?.createdAt ?? null, kept: kept ?? null, wasCutOff: kept !== null }
  })
}

/**
 * Lets go of the key of a request that failed. Where the failure is an answer, it is as if it had never been taken. Otherwise
 * the same request may go on with it at once, and knows that it was cut off.
 */
async function giveBack(app: App, { workspaceId, key }: KeyClaim, at: Date, error: unknown): Promise<void> {
  const code = codeOf(error)
  const isAnswer = code !== null && errors[code].status < 500 && !code.startsWith('IDEMPOTENCY_')
  const text = isAnswer
    ? `delete from idempotency_keys`
    : `update idempotency_keys set "createdAt" = now() - make_interval(secs => ${atWorkSeconds})`
  await app.pool
    .query(`${text} where "workspaceId" = $1 and key = $2 and result is null and "createdAt" = $3`, [workspaceId, key, at])
    .catch((err: unknown) => app.log.warn({ err }, 'an Idempotency-Key is held until it counts as cut off'))
}
