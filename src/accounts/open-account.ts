// Creates what every account has: a personal workspace and a subscription.
import type pg from 'pg'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'

/** Creates both for the user, on the plan. Idempotent: existing ones stay unchanged. */
export async function openAccount(pool: pg.Pool, userId: string, plan = 'free'): Promise<void> {
  await sqlTransaction(pool, (tx) => openAccountIn(tx, userId, plan))
}

/** {@link openAccount} in the caller's transaction. Returns the id of the new workspace, or null if the account was open already. */
export async function openAccountIn(tx: Sql, userId: string, plan: string): Promise<string | null> {
  // The period is the calendar month (UTC), as for quotas.
  const { rowCount } = await tx.query(
    `insert into subscriptions ("userId", plan, "currentPeriodStart", "currentPeriodEnd")
      select $1, $2, start at time zone 'UTC', (start + interval '1 month') at time zone 'UTC'
      from date_trunc('month', now() at time zone 'UTC') as start
      on conflict ("userId") do nothing`,
    [userId, plan],
  )
  // Of two concurrent calls, only one inserts the subscription, and that one inserts the workspace.
  if (!rowCount) return null
  const workspaceId = newId()
  await tx.query(`insert into workspaces (id, "ownerId") values ($1, $2)`, [workspaceId, userId])
  return workspaceId
}
