// SQL of the keys of `custom`, which contacts of a workspace need not have in common.
import type { Sql } from '../core/database/database.ts'
import { nilId } from '../core/id.ts'

/** Contacts whose keys one statement reads: with 50 keys each, far fewer than fit within its time limit. */
const readAtOnce = 20_000

interface Piece {
  /** The first keys in alphabetical order, with those of the pieces before; null if they are the same as before. */
  keys: string[] | null
  /** How many contacts it has, and the last of them. */
  n: number
  createdAt: Date | null
  id: string | null
}

/** The first `limit` keys in alphabetical order. It reads all contacts of the workspace (index on workspaceId, createdAt and id). */
export async function readCustomKeys(sql: Sql, workspaceId: string, limit: number, atOnce = readAtOnce): Promise<string[]> {
  let keys: string[] = []
  let after: unknown[] = ['-infinity', nilId]
  for (;;) {
    const { rows } = await sql.query<Piece>(
      `with piece as materialized (
         select id, "createdAt", custom from contacts
         where "workspaceId" = $1 and ("createdAt", id) > ($2, $3::uuid) order by "createdAt", id limit $4
       )
       select nullif(array(
           select key from (select unnest($5::text[]) as key union select jsonb_object_keys(custom) from piece) k order by key limit $6
         ), $5::text[]) as keys, (select count(*)::int from piece) as n, last.*
       from (select 1) one left join lateral (select "createdAt", id from piece order by "createdAt" desc, id desc limit 1) last on true`,
      [workspaceId, ...after, atOnce, keys, limit],
    )
    const { n, createdAt, id, ...piece } = rows[0] as Piece
    keys = piece.keys ?? keys
    if (n < atOnce) return keys
    after = [createdAt, id]
  }
}
