// SQL of cancelling one message.
import type { Sql } from '../core/database/database.ts'
import type { Message } from '../generated/prisma/client.ts'

/** A message, with the owner and the period of its quota. */
type CountedMessage = Message & { period: string | null; ownerId: string }

/** Locks a message of the workspace. The row lock waits for a running claim, so the status is final for `tx`. */
export async function lockMessage(tx: Sql, workspaceId: string, id: string): Promise<CountedMessage | undefined> {
  const { rows } = await tx.query<CountedMessage>(
    `select m.*, m."countedPeriod"::text as period, w."ownerId" from messages m join workspaces w on w.id = m."workspaceId"
     where m.id = $1 and m."workspaceId" = $2 for update of m`,
    [id, workspaceId],
  )
  return rows[0]
}

export async function storeCancelled(tx: Sql, id: string): Promise<Message> {
  const { rows } = await tx.query<Message>(
    `update messages set status = 'cancelled', "cancelledAt" = now(), "updatedAt" = now(), "countedPeriod" = null, "waitingSince" = null
     where id = $1 returning *`,
    [id],
  )
  return rows[0] as Message
}
