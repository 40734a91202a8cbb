// SQL of the files of inbound messages.
import type { Sql } from '../../core/database/database.ts'
import type { InboundMedia } from '../../providers/reports.ts'
import type { WithInstance } from '../instance-of.ts'

export interface AwaitedFile extends WithInstance {
  id: string
  workspaceId: string
  ownerId: string
  providerMessageId: string
  media: InboundMedia
}

export type NamedMessage = Pick<AwaitedFile, 'id' | 'workspaceId' | 'instanceId' | 'providerMessageId'>

type Unfetched = NamedMessage & { reason: string | null }

const awaits = `m.direction = 'inbound' and m."mediaUrl" is null and m.content ? 'media'`

/** The file that a message awaits, with its instance; undefined if the message has it, or is gone. */
export async function readAwaited(sql: Sql, id: string): Promise<AwaitedFile | undefined> {
  const { rows } = await sql.query<AwaitedFile>(
    `select m.id, m."workspaceId", w."ownerId", m."instanceId", m."providerMessageId", i.provider, m.content->'media' as media,
       i."waNumber", i.settings, i.credentials
     from messages m join instances i on i.id = m."instanceId" join workspaces w on w.id = m."workspaceId"
     where m.id = $1 and ${awaits}`,
    [id],
  )
  return rows[0]
}

/**
 * Stores the address of the file of a message that awaits it, in place of the network's reference: an empty `media` tells retention that
 * the file came with the message. Returns false if none awaits it.
 */
export async function storeFile(tx: Sql, id: string, url: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update messages m set "mediaUrl" = $2, "errorDetail" = null, content = m.content || '{"media": {}}', "updatedAt" = now() where m.id = $1 and ${awaits}`,
    [id, url],
  )
  return rowCount === 1
}

/**
 * Stores why the file of a message that awaits it is missing; `last` drops the network's reference to it. Returns the message; undefined if
 * it has the file, or is gone.
 */
export async function storeReason(tx: Sql, id: string, reason: string | null, last: boolean): Promise<Unfetched | undefined> {
  const { rows } = await tx.query<Unfetched>(
    `update messages m set "errorDetail" = coalesce($2, m."errorDetail"), content = case when $3 then m.content - 'media' else m.content end,
       "updatedAt" = now() where m.id = $1 and ${awaits}
     returning m.id, m."workspaceId", m."instanceId", m."providerMessageId", m."errorDetail" as reason`,
    [id, reason, last],
  )
  return rows[0]
}
