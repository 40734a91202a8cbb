// SQL of messages that are marked as read.
import type { Sql } from '../../core/database/database.ts'
import type { WithInstance } from '../instance-of.ts'

interface Received extends WithInstance {
  providerMessageId: string
  from: string
}

/** A received message with its instance; undefined if the message or the instance is gone, or the instance is logged out. */
export async function readReceived(sql: Sql, id: string): Promise<Received | undefined> {
  const { rows } = await sql.query<Received>(
    `select m."instanceId", m."providerMessageId", m."from", i.provider, i."waNumber", i.settings, i.credentials
     from messages m join instances i on i.id = m."instanceId" and i.status <> 'logged_out' and i."deletedAt" is null
     where m.id = $1 and m.direction = 'inbound'`,
    [id],
  )
  return rows[0]
}
