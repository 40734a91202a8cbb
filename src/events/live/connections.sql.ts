// SQL of connections for many operations: which process holds each of them. The clock is that of the database.
import type { Sql } from '../../core/database/database.ts'

/** A process that has not renewed its connections for this long counts as dead. */
const aliveFor = "interval '1 minute'"
const forgottenAfter = "interval '10 minutes'"

export async function insertConnection(sql: Sql, digest: Buffer, node: string): Promise<void> {
  await sql.query('insert into live_connections (digest, node, "seenAt") values ($1, $2, now())', [digest, node])
}

/** The process that holds the connection; undefined if none does. */
export async function nodeOf(sql: Sql, digest: Buffer): Promise<string | undefined> {
  const { rows } = await sql.query<{ node: string }>({
    name: 'live.node',
    text: `select node from live_connections where digest = $1 and "seenAt" > now() - ${aliveFor}`,
    values: [digest],
  })
  return rows[0]?.node
}

/**
 * Makes `node` the holder of a connection that no client has opened yet, and returns its holder so far. Returns undefined if there is no
 * such connection. The row lock lets one client open it.
 */
export async function openConnection(sql: Sql, digest: Buffer, node: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ node: string }>(
    `update live_connections c set node = $2, "openedAt" = now()
      from (select digest, node from live_connections
        where digest = $1 and "openedAt" is null and "seenAt" > now() - ${aliveFor} for update) before
      where c.digest = before.digest returning before.node`,
    [digest, node],
  )
  return rows[0]?.node
}

/** Says that the process lives, and forgets the connections of processes that died. */
export async function renewConnections(sql: Sql, node: string): Promise<void> {
  await sql.query(`delete from live_connections where "seenAt" < now() - ${forgottenAfter}`)
  await sql.query('update live_connections set "seenAt" = now() where node = $1', [node])
}

/** Deletes the connection, unless another process holds it by now. */
export async function deleteConnection(sql: Sql, digest: Buffer, node: string): Promise<void> {
  await sql.query('delete from live_connections where digest = $1 and node = $2', [digest, node])
}
