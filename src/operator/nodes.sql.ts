// SQL of the processes of the installation. The clock is that of the database.
import type { Sql } from '../core/database/database.ts'

export interface NodeFields {
  id: string
  roles: readonly string[]
  version: string
  host: string
  pid: number
  openStreams: number
}

export interface NodeRow extends NodeFields {
  startedAt: Date
  seenAt: Date
  alive: boolean
}

/** Processes that were not seen for this long are forgotten. */
const forgottenAfter = "interval '1 hour'"

/** Stores that a process lives, and forgets those that died long ago. */
export async function storeNode(sql: Sql, { id, roles, version, host, pid, openStreams }: NodeFields): Promise<void> {
  await sql.query({
    name: 'operator.node',
    text: `with gone as (delete from nodes where "seenAt" < now() - ${forgottenAfter} and id <> $1)
      insert into nodes (id, roles, version, host, pid, "openStreams", "startedAt", "seenAt")
      values ($1, $2::text[], $3, $4, $5, $6, now(), now())
      on conflict (id) do update set "seenAt" = excluded."seenAt", "openStreams" = excluded."openStreams"`,
    values: [id, roles, version, host, pid, openStreams],
  })
}

/** Waits until this session can write. @throws the error 55P03 of PostgreSQL after its lock timeout, while another session locks the table. */
export async function awaitWritable(sql: Sql): Promise<void> {
  await sql.query('delete from nodes where false')
}

export async function deleteNode(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from nodes where id = $1', [id])
}

/**
 * The 200 processes that were seen last, oldest first: a process that dies after each start leaves many rows, which must hide no living one.
 * One is alive if it was seen in the last `aliveMs`.
 */
export async function readNodes(sql: Sql, aliveMs: number): Promise<NodeRow[]> {
  const { rows } = await sql.query<NodeRow>(
    `select *, "seenAt" > now() - $1 * interval '1 millisecond' as alive
     from (select * from nodes order by "seenAt" desc, id limit 200) latest order by "startedAt", id`,
    [aliveMs],
  )
  return rows
}
