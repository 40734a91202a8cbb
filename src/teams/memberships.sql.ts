// SQL of memberships that open streams depend on.
import type { Sql } from '../core/database/database.ts'

export interface Membership {
  teamId: string
  userId: string
}

/** Returns for each pair if the person is in the team, and the team is not deleted (primary key of members). */
export async function readMemberships(sql: Sql, pairs: readonly Membership[]): Promise<boolean[]> {
  const { rows } = await sql.query<{ joined: boolean }>(
    `select exists (
       select from team_members m join teams t on t.id = m."teamId" and t."deletedAt" is null
       where m."teamId" = p.team and m."userId" = p.person
     ) as joined
     from unnest($1::uuid[], $2::uuid[]) with ordinality as p(team, person, i) order by p.i`,
    [pairs.map(({ teamId }) => teamId), pairs.map(({ userId }) => userId)],
  )
  return rows.map(({ joined }) => joined)
}
