// SQL of calls between processes.
import type { Sql } from '../../core/database/database.ts'

/** A call that only the holder of a connection can carry out. */
export type Call = { call: 'lookup'; numbers: string[] } | { call: 'read'; from: string; stanzaId: string }

export async function addCall(sql: Sql, id: string, instanceId: string, call: Call): Promise<void> {
  await sql.query('insert into web_calls (id, "instanceId", request) values ($1, $2, $3)', [id, instanceId, JSON.stringify(call)])
}

export async function deleteCall(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from web_calls where id = $1', [id])
}

export interface StoredAnswer {
  value?: unknown
  error?: string
}

export async function readAnswer(sql: Sql, id: string): Promise<StoredAnswer | null> {
  const text = 'select answer from web_calls where id = $1'
  const { rows } = await sql.query<{ answer: StoredAnswer | null }>({ name: 'web.call.answer', text, values: [id] })
  return rows[0]?.answer ?? null
}

export async function storeAnswer(sql: Sql, id: string, answer: StoredAnswer): Promise<void> {
  await sql.query('update web_calls set answer = $2 where id = $1', [id, JSON.stringify(answer)])
}

export interface TakenCall {
  id: string
  instanceId: string
  request: Call
}

/** Takes the calls that wait for the connections of this process. The row locks give each to one taker. */
export async function takeCalls(sql: Sql, node: string): Promise<TakenCall[]> {
  const { rows } = await sql.query<TakenCall>({
    name: 'web.calls.take',
    text: `update web_calls c set "takenAt" = now() from instance_leases l
      where c."takenAt" is null and l."instanceId" = c."instanceId" and l.node = $1 and l."leaseUntil" > clock_timestamp()
      returning c.id, c."instanceId", c.request`,
    values: [node],
  })
  return rows
}
