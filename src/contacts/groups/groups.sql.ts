// SQL of contact groups: their members as recipients.
import type { Sql } from '../../core/database/database.ts'
import type { Addressee } from '../contacts.sql.ts'

/** The distinct members of the groups, oldest contacts first, at most `limit`. */
export async function readGroupAddressees(sql: Sql, groupIds: readonly string[], limit: number): Promise<Addressee[]> {
  const { rows } = await sql.query<Addressee>(
    `select id, phone from contacts
     where id in (select "contactId" from contact_group_members where "groupId" = any($1::uuid[])) order by "createdAt", id limit $2`,
    [groupIds, limit],
  )
  return rows
}
