// SQL of orders that an operator settles by hand.
import type { Sql } from '../core/database/database.ts'
import { newId } from '../core/id.ts'

/** Completes the pending manual orders of a plan. Returns how many there were. */
export async function completeOrders(tx: Sql, userId: string, plan: string): Promise<number> {
  const { rowCount } = await tx.query(
    `update checkouts set status = 'completed', "updatedAt" = now()
     where "userId" = $1 and plan = $2 and provider = 'manual' and status = 'pending'`,
    [userId, plan],
  )
  return rowCount ?? 0
}

interface PaidOrder {
  userId: string
  amountCents: number
  currency: string
  description: string
}

export async function insertPayment(tx: Sql, { userId, amountCents, currency, description }: PaidOrder): Promise<void> {
  await tx.query(
    `insert into payments (id, "userId", "amountCents", currency, status, description) values ($1, $2, $3, $4, 'paid', $5)`,
    [newId(), userId, amountCents, currency, description],
  )
}

export interface PendingCheckout {
  id: string
  email: string
  plan: string
  provider: string
  createdAt: Date
}

/** Returns the orders that wait for an operator, oldest first. */
export async function listPendingCheckouts(sql: Sql): Promise<PendingCheckout[]> {
  const { rows } = await sql.query<PendingCheckout>(
    `select c.id, u.email, c.plan, c.provider, c."createdAt" from checkouts c join users u on u.id = c."userId"
      where c.status = 'pending' and c.provider = 'manual' order by c."createdAt", c.id`,
  )
  return rows
}
