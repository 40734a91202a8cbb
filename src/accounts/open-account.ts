// Creates what every account has: a personal workspace and a subscription.
import type { Db } from '../core/database/database.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'

/** Creates both for the user, on the plan Free. Idempotent: existing ones stay unchanged. */
export async function openAccount(db: Db, userId: string): Promise<void> {
  await transaction(db, (tx) => openAccountIn(tx, userId, 'free'))
}

/** {@link openAccount} in the caller's transaction, on any plan. Returns the id of the new workspace, or null if the account was open. */
export async function openAccountIn(tx: Tx, userId: string, plan: string): Promise<string | null> {
  // The period is the calendar month (UTC), as for quotas.
  const now = new Date()
  const firstOf = (month: number) => new Date(Date.UTC(now.getUTCFullYear(), month))
  const period = { currentPeriodStart: firstOf(now.getUTCMonth()), currentPeriodEnd: firstOf(now.getUTCMonth() + 1) }
  const data = { userId, plan, ...period }
  const { count } = await tx.db.subscription.createMany({ data, skipDuplicates: true })
  // Of two concurrent calls, only one inserts the subscription, and that one inserts the workspace.
  if (count === 0) return null
  return await insertWorkspace(tx, userId)
}

/** Inserts a workspace in the caller's transaction. Returns its id. */
export async function insertWorkspace({ db }: Tx, ownerId: string): Promise<string> {
  return (await db.workspace.create({ data: { id: newId(), ownerId }, select: { id: true } })).id
}
