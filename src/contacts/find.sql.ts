// SQL that finds contacts by a part of their name or number.
import type { Sql } from '../core/database/database.ts'
import { matching } from './list.sql.ts'
import { windowSize } from './list.ts'

/** Shorter texts have no trigram, so the index cannot find them. */
const leastLength = 3

/**
 * The ids of contacts with `part` in their name or number, in the order of their names, `most` at most: those among the first contacts by
 * name (index on workspace and name), or else any (trigram index), of which it sorts 1,000.
 */
export async function findContacts(sql: Sql, workspaceId: string, part: string, most: number): Promise<string[]> {
  const read = async (from: string) => {
    const values: unknown[] = [workspaceId]
    const match = matching(part, 'nameOrPhone', values)
    const { rows } = await sql.query<{ id: string }>(
      `select id from (${from.replace('$match', match)}) c order by name, id limit ${most}`,
      values,
    )
    return rows.map(({ id }) => id)
  }
  const near = await read(
    `select * from (select * from contacts c where "workspaceId" = $1 order by name, id limit ${windowSize}) c where $match`,
  )
  if (near.length === most || part.length < leastLength) return near
  return await read(`select id, name from contacts c where "workspaceId" = $1 and $match limit 1000`)
}
