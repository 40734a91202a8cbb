// Messages that change as fast as a test wants: their rows and their events, without a network.
import type pg from 'pg'
import { newId } from '../../src/core/id.ts'
import { emit } from '../../src/events/log/emit.ts'
import { notifyLeader } from '../../src/events/log/relay.sql.ts'
import { messageEvent } from '../../src/messages/events.ts'

export interface Sender {
  workspaceId: string
  userId: string
  instanceId: string
}

export const steps = ['queued', 'sent', 'delivered', 'read'] as const
type Step = (typeof steps)[number]

const numberOf = (n: number) => `+49151${String(2_000_000 + n)}`

/** Stores messages that no job sends, without events. Returns their ids. */
export async function insertMessages(
  pool: pg.Pool,
  { workspaceId, userId, instanceId }: Sender,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId())
  await pool.query(
    `insert into messages (id, "workspaceId", "userId", "instanceId", type, "to", peer, body, status, safety)
     select id, $2, $3, $4, 'text', '+49151' || 2000000 + n, '+49151' || 2000000 + n, 'Message ' || n, 'queued',
       '{"decision":"allow","riskLevel":"low","state":"stable","score":100}'
     from unnest($1::uuid[]) with ordinality as ids(id, n)`,
    [ids, workspaceId, userId, instanceId],
  )
  return ids
}

/** Moves messages to a status, with one event each, in one transaction. Resolves to the time just before its commit. */
export async function move(
  pool: pg.Pool,
  { workspaceId, instanceId }: Sender,
  ids: readonly string[],
  step: Step,
): Promise<number> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(`update messages set status = $2::message_status, "updatedAt" = clock_timestamp() where id = any($1)`, [
      ids,
      step,
    ])
    const message = { workspaceId, instanceId, campaignId: null, providerMessageId: null, to: numberOf(1) }
    await emit(
      client,
      ids.map((id) => messageEvent({ ...message, id }, step, new Date())),
    )
    const at = Date.now()
    await client.query('commit')
    await notifyLeader(client)
    return at
  } finally {
    client.release()
  }
}
